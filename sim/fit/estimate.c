#include "fit/estimate.h"

const struct wt_estimator *const wt_estimators[] = {
    &wt_fit_launch,  &wt_fit_tpc_lag, &wt_fit_used_tpc, &wt_fit_visit,      &wt_fit_launch_offset, &wt_fit_release, &wt_fit_report_offset,
    &wt_fit_report,  &wt_fit_drain,   &wt_fit_kernel_gap,   NULL,
};

void *wt_rate_of(const struct wt_estimator *estimator, struct wt_rates *rates)
{
    return (char *)rates + estimator->offset;
}
