/* Parts of the HTML page. Private to sim/observe. */
#ifndef WT_OBSERVE_HTML_PAGE_H
#define WT_OBSERVE_HTML_PAGE_H

#include <stdbool.h>

#include "observe/exporter.h"

/* The same for every run: page.html, and the scripts as they stand in page_*.js. */
extern const char wt_html_body[];   /* style and elements; ends within <body> */
enum { WT_HTML_SCRIPTS = 4 };
extern const char *const wt_html_scripts[WT_HTML_SCRIPTS]; /* to stand one after another; hold no "</script" */

/* html_run.c: the runs as JSON; the caller's. */
char *wt_html_description(const struct wt_export *what, const char *title);
/* Lanes of an SM in the packed blocks: its slots, used or not. */
int wt_html_slots(const struct wt_timeline *timeline);
bool wt_html_has_tasks(const struct wt_timeline *timeline);

#endif
