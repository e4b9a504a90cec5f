/* The parts of the HTML page that are the same for every run, as they stand in page.html and page.js. */
#ifndef WT_OBSERVE_HTML_PAGE_H
#define WT_OBSERVE_HTML_PAGE_H

extern const char wt_html_body[];   /* style and elements; ends within <body> */
extern const char wt_html_script[]; /* holds no "</script" */

#endif
