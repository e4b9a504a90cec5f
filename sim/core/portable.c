#include "core/portable.h"

#include <math.h>

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172. */
double wt_ln(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = 25; k >= 3; k -= 2)
        sum = (sum + 1.0 / k) * square;
    return e * 0x1.62e42fee00000p-1 + (e * 0x1.a39ef35793c76p-33 + (2 * s * sum + 2 * s));
}
