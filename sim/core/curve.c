#include "core/curve.h"

double wt_curve_at(const struct wt_curve *curve, double x)
{
    if (curve->count == 0)
        return 0;
    if (curve->count == 1)
        return curve->y[0];
    int right = 1;
    while (right < curve->count - 1 && x > curve->x[right])
        right++;
    double x0 = curve->x[right - 1], y0 = curve->y[right - 1];
    return y0 + (curve->y[right] - y0) * (x - x0) / (curve->x[right] - x0);
}
