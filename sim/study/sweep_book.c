#include "study/sweep_book.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/outfile.h"

struct wt_sweep_book {
    const struct wt_sweep *sweep;
    char *path, *journal_path; /* NULL: standard output, no journal */
    FILE *journal;
    char **rows; /* by point; NULL: not finished */
    size_t done;
    bool complete; /* the table is written */
};

static const char first_line[] = "wavetail sweep journal 1\n";

/* ---- Reading what is there ---- */

struct known {
    uint64_t key;
    size_t point;
};

static int by_key(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->point > y->point) - (x->point < y->point);
}

static struct known *sorted_keys(const struct wt_sweep *sweep)
{
    size_t count = wt_sweep_count(sweep);
    struct known *known = wt_alloc(count, sizeof *known);
    for (size_t i = 0; i < count; i++)
        known[i] = (struct known){wt_sweep_key(sweep, i), i};
    qsort(known, count, sizeof *known, by_key);
    return known;
}

static size_t first_with(const struct known *known, size_t count, uint64_t key)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (known[middle].key < key)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Random samples may hold the same point several times. */
static void take_line(struct wt_sweep_book *book, const struct known *known, const char *line)
{
    char *end;
    uint64_t key = strtoull(line, &end, 16);
    size_t count = wt_sweep_count(book->sweep);
    if (*end != '\t')
        return;
    for (size_t i = first_with(known, count, key); i < count && known[i].key == key; i++) {
        char **row = &book->rows[known[i].point];
        if (*row)
            continue;
        *row = wt_strdup(end + 1);
        book->done++;
    }
}

/* What follows the last whole line is cut off. */
static enum wt_code read_journal(struct wt_sweep_book *book, struct wt_error *err)
{
    struct known *known = sorted_keys(book->sweep);
    char *line = NULL;
    size_t size = 0;
    ssize_t length = getline(&line, &size, book->journal);
    bool ours = length <= 0 || !strcmp(line, first_line) || !strchr(line, '\n');
    long end = length > 0 && ours && strchr(line, '\n') ? length : 0;
    while (end > 0 && (length = getline(&line, &size, book->journal)) > 0 && line[length - 1] == '\n') {
        line[length - 1] = '\0';
        take_line(book, known, line);
        end += length;
    }
    free(line);
    free(known);
    if (!ours)
        return wt_fail_at(err, book->journal_path, 1, "is not a journal of a sweep; choose another --out, or remove it");
    if (fseek(book->journal, end, SEEK_SET) != 0 || ftruncate(fileno(book->journal), end) != 0)
        return wt_fail_at(err, book->journal_path, 0, "cannot be written (%s); choose another --out", strerror(errno));
    if (end == 0)
        fputs(first_line, book->journal);
    return WT_OK;
}

static enum wt_code open_journal(struct wt_sweep_book *book, struct wt_error *err)
{
    book->journal = fopen(book->journal_path, "a+");
    if (!book->journal)
        return wt_fail_at(err, book->journal_path, 0, "cannot be written (%s); check the folder and its permissions",
                          strerror(errno));
    if (flock(fileno(book->journal), LOCK_EX | LOCK_NB) != 0)
        return wt_fail_at(err, book->journal_path, 0, "another sweep is writing it; wait for it, or choose another --out");
    rewind(book->journal);
    return read_journal(book, err);
}

enum wt_code wt_sweep_book_open(const struct wt_sweep *sweep, const char *path, struct wt_sweep_book **out, struct wt_error *err)
{
    struct wt_sweep_book *book = wt_alloc(1, sizeof *book);
    *out = NULL;
    book->sweep = sweep;
    book->rows = wt_alloc(wt_sweep_count(sweep), sizeof *book->rows);
    enum wt_code code = WT_OK;
    if (path && strcmp(path, "-")) {
        book->path = wt_strdup(path);
        book->journal_path = wt_format("%s.journal", path);
        code = open_journal(book, err);
    }
    if (code == WT_OK)
        *out = book;
    else
        wt_sweep_book_free(book);
    return code;
}

void wt_sweep_book_free(struct wt_sweep_book *book)
{
    if (!book)
        return;
    for (size_t i = 0; i < wt_sweep_count(book->sweep); i++)
        free(book->rows[i]);
    if (book->journal) {
        if (book->complete)
            unlink(book->journal_path);
        fclose(book->journal);
    }
    free(book->rows);
    free(book->path);
    free(book->journal_path);
    free(book);
}

size_t wt_sweep_book_done(const struct wt_sweep_book *book)
{
    return book->done;
}

const char *wt_sweep_book_row(const struct wt_sweep_book *book, size_t point)
{
    return book->rows[point];
}

enum wt_code wt_sweep_book_add(struct wt_sweep_book *book, size_t point, char *row, struct wt_error *err)
{
    if (book->rows[point]) {
        free(row);
        return WT_OK;
    }
    book->rows[point] = row;
    book->done++;
    if (!book->journal)
        return WT_OK;
    fprintf(book->journal, "%016" PRIx64 "\t%s\n", wt_sweep_key(book->sweep, point), row);
    if (fflush(book->journal) != 0)
        return wt_fail_at(err, book->journal_path, 0, "cannot be written (%s); free some space", strerror(errno));
    return WT_OK;
}

static void print_table(const struct wt_sweep_book *book, FILE *stream)
{
    char *header = wt_sweep_header(book->sweep);
    fprintf(stream, "%s\n", header);
    free(header);
    for (size_t i = 0; i < wt_sweep_count(book->sweep); i++)
        fprintf(stream, "%zu,%s\n", i, book->rows[i]);
}

char *wt_sweep_book_text(const struct wt_sweep_book *book, size_t *size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    print_table(book, stream);
    fclose(stream);
    return text;
}

enum wt_code wt_sweep_book_finish(struct wt_sweep_book *book, struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, book->path ? book->path : "-", err));
    print_table(book, out.stream);
    WT_TRY(wt_outfile_commit(&out, err));
    book->complete = true;
    return WT_OK;
}
