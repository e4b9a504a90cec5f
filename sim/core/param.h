/* Parameters: each is declared once, in a const table; the table drives reading, checking, the printed reference
 * and the echo of resolved values.
 *
 *     struct spin { int threads; double work; char *name; };
 *     static const struct wt_param spin_params[] = {
 *         {"threads", WT_PARAM_INT, offsetof(struct spin, threads), .low = 1, .high = 1024, .required = true,
 *          .help = "threads per block"},
 *         {"work.mean", WT_PARAM_NUMBER, offsetof(struct spin, work), .unit = "cycles", .low = 0, .high = 1e12,
 *          .fallback = "1000", .help = "mean duration of a block"},
 *         {"name", WT_PARAM_STRING, offsetof(struct spin, name), .help = "shown in pictures"},
 *         {0}};
 *
 * Reading one group, here element i of `kernels = ( { threads = 256; work = { mean = 5.0; }; }, … );`:
 *
 *     WT_TRY(wt_config_read(path, &config, err));
 *     const struct config_setting_t *group = wt_config_element(wt_config_root(config), "kernels", i);
 *     code = wt_params_read(spin_params, config, group, &spin, err);   // then use it
 *     wt_params_free(spin_params, &spin);
 *
 * The keys of one group stand together in the table. In a table for the group that holds `kernels`, the list is
 * declared as WT_PARAM_GROUPS so that it is known.
 *
 * A value is plain (`threads = 256;`) or says where it comes from:
 * `threads = { value = 256; source = "measured: …"; spread = "…"; error = "…"; };`. A `source` beside values,
 * inside a group, holds for all values of that group in that file which have none of their own. */
#ifndef WT_CORE_PARAM_H
#define WT_CORE_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/config.h"
#include "core/curve.h"
#include "core/json.h"
#include "core/status.h"

struct wt_ints {
    int *values; /* owned; NULL when count is 0 */
    int count;
};

struct wt_numbers {
    double *values;
    int count;
};

struct wt_int_lists {
    struct wt_ints *lists;
    int count;
};

/* With the C type of the field at `offset`. */
enum wt_param_type {
    WT_PARAM_INT,       /* int */
    WT_PARAM_INT64,     /* int64_t; 1e9 is accepted as well as 1000000000 */
    WT_PARAM_NUMBER,    /* double */
    WT_PARAM_STRING,    /* char *, owned; NULL when not given and without default */
    WT_PARAM_BOOL,      /* bool */
    WT_PARAM_CHOICE,    /* int: index into `choices` */
    WT_PARAM_INTS,      /* struct wt_ints; a plain number is a list of one */
    WT_PARAM_NUMBERS,   /* struct wt_numbers */
    WT_PARAM_INT_LISTS, /* struct wt_int_lists: ([0, 1], [2, 3]) */
    WT_PARAM_CURVE,     /* struct wt_curve: ([1, 24], [8, 31]); a plain number is a constant */
    WT_PARAM_GROUPS,    /* a list of groups, for the caller to read (wt_config_element); nothing is stored */
    WT_PARAM_LIST,      /* a list of plain values of any kind, for the caller to read; nothing is stored */
    WT_PARAM_GROUP      /* one group, for the caller to read (wt_config_group); nothing is stored */
};

struct wt_param {
    const char *key; /* dotted where groups nest: "rates.service_cycles"; NULL ends the table */
    enum wt_param_type type;
    size_t offset;    /* of the field in the struct that is filled */
    const char *unit; /* for people; NULL: a count or no unit */
    double low, high; /* inclusive bounds of a number, a list's numbers, a curve's y; both 0: none */
    int most;         /* most elements of a list; 0: any number */
    bool required;
    const char *fallback; /* default, as it would stand in a file (strings and choices without quotes); NULL: 0,
                             false, NULL, the first choice, an empty list */
    const char *const *choices;    /* WT_PARAM_CHOICE: NULL-terminated */
    const struct wt_param *groups; /* WT_PARAM_GROUPS, WT_PARAM_GROUP: their table, for the reference; may be NULL */
    const char *help;              /* one sentence, no full stop */
};

/* Where a value comes from. All owned by the record; strings are NULL when not given. */
struct wt_origin {
    bool given; /* false: the default */
    char *file;
    long line;
    char *source, *spread, *error;
};

/* A struct being filled, possibly from several files one after another, and where each value came from. */
struct wt_record {
    const struct wt_param *table;
    size_t count;
    void *object;
    struct wt_origin *origins; /* one per table entry; owned */
};

/* ---- One group into one struct ---- */

/* Fills `object` (whose old content is ignored) with defaults and the group's values. Unknown keys, wrong types,
 * values out of range and missing required keys fail with FILE:LINE and a remedy; then `object` owns nothing. On
 * success release it with wt_params_free. */
enum wt_code wt_params_read(const struct wt_param *table, const struct wt_config *config,
                            const struct config_setting_t *group, void *object, struct wt_error *err);

/* Frees and clears what the table's fields of `object` own. */
void wt_params_free(const struct wt_param *table, void *object);

/* ---- The same in steps ---- */

/* Fills `object` with the defaults. `table` and `object` must outlive the record. */
struct wt_record wt_record_begin(const struct wt_param *table, void *object);

/* Overrides with the values of a group. On failure `object` is still valid. */
enum wt_code wt_record_read(struct wt_record *record, const struct wt_config *config,
                            const struct config_setting_t *group, struct wt_error *err);

/* Fails when a required value was never given; `file` and `line` say where it should stand. */
enum wt_code wt_record_check(const struct wt_record *record, const char *file, long line, struct wt_error *err);

/* Frees the origins, not the object's values. */
void wt_record_free(struct wt_record *record);

/* NULL when the table has no such key. */
const struct wt_origin *wt_record_origin(const struct wt_record *record, const char *key);

/* An error about a value that was read: at its place where given, else at `file`. Returns WT_BAD_INPUT. */
enum wt_code wt_record_fail(const struct wt_record *record, const char *key, const char *file, struct wt_error *err,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- For people and programs ---- */

/* The reference: every key with type, unit, range, default and help. */
void wt_params_print(const struct wt_param *table, FILE *stream);

/* Members of the open JSON object: values nested as the dotted keys are. */
void wt_params_json(const struct wt_param *table, const void *object, struct wt_json *json);

/* As wt_params_json, but each value an object: value, unit, source, spread, error (those that are known). */
void wt_record_json(const struct wt_record *record, struct wt_json *json);

/* One value as it would stand in a file, owned by the caller. */
char *wt_param_text(const struct wt_param *param, const void *object);

#endif
