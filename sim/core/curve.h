/* A quantity as a function of another: straight lines between measured points. */
#ifndef WT_CORE_CURVE_H
#define WT_CORE_CURVE_H

enum { WT_MAX_CURVE = 16 };

struct wt_curve {
    int count; /* 0: no curve was given */
    double x[WT_MAX_CURVE]; /* strictly ascending */
    double y[WT_MAX_CURVE];
};

/* The curve's value at `x`: linear between the points and, with the slope of the end segment, beyond them. A single
 * point is a constant; no point is 0. */
double wt_curve_at(const struct wt_curve *curve, double x);

#endif
