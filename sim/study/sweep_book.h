/* The finished points of a sweep. They are kept in a journal beside the output as they come, so that a run that was
 * stopped can be taken up again; the table itself appears when all are there, in the order of the points.
 *
 * The journal, FILE.journal, has a line "KEY<tab>ROW" per point, KEY being wt_sweep_key in hexadecimal: what is there counts for
 * any study with the same workload. A line cut short is dropped. It is removed when the table is complete. */
#ifndef WT_STUDY_SWEEP_BOOK_H
#define WT_STUDY_SWEEP_BOOK_H

#include "study/sweep.h"

struct wt_sweep_book;

/* `path`: of the table; NULL or "-": standard output, without a journal. Fails when another run has the journal open.
 * On failure *out is NULL. */
enum wt_code wt_sweep_book_open(const struct wt_sweep *sweep, const char *path, struct wt_sweep_book **out, struct wt_error *err);
/* NULL is allowed. The journal stays unless the table was written. */
void wt_sweep_book_free(struct wt_sweep_book *book);

size_t wt_sweep_book_done(const struct wt_sweep_book *book);
/* NULL: not finished. */
const char *wt_sweep_book_row(const struct wt_sweep_book *book, size_t point);
/* Takes the row over; one thread at a time. A point that is there already is left as it is. */
enum wt_code wt_sweep_book_add(struct wt_sweep_book *book, size_t point, char *row, struct wt_error *err);

/* The table as text, owned by the caller; all points must be there. */
char *wt_sweep_book_text(const struct wt_sweep_book *book, size_t *size);
/* Writes the table; all points must be there. */
enum wt_code wt_sweep_book_finish(struct wt_sweep_book *book, struct wt_error *err);

#endif
