/* exp and ln made of IEEE additions and multiplications alone, so that results are the same bits on every
 * machine: the C library chooses its code by the processor it finds. */
#ifndef WT_CORE_PORTABLE_H
#define WT_CORE_PORTABLE_H

#include <stdint.h>
#include <string.h>

/* e^x, within 2 units in the last place. x must lie in [-700, 700]: beyond, the result is meaningless. Inline and
 * without branches, so that a loop over it is vectorised. */
static inline double wt_exp(double x)
{
    static const double log2_e = 1.4426950408889634, ln2_high = 0x1.62e42fee00000p-1,
                        ln2_low = 0x1.a39ef35793c76p-33, integer_shift = 0x1.8p52;
    double shifted = x * log2_e + integer_shift; /* the nearest integer is in the low mantissa bits */
    double k = shifted - integer_shift;
    double r = (x - k * ln2_high) - k * ln2_low; /* |r| <= ln2 / 2 */
    double p = 1.0 / 479001600;                  /* Taylor to r^12 / 12!: the rest is below 2^-52 */
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52; /* 2^k: the shift drops all but k's low bits */
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

/* Natural logarithm of a finite x > 0, within 4 units in the last place (absolute error below 1e-16 near 1). */
double wt_ln(double x);

#endif
