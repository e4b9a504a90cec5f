#include "warp/ncu_csv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "warp/ncu.h"

/* Moves a field's characters to `to`, without quotes; *at ends behind the field. False when a quote is not closed. */
static bool take_field(const char **at, const char *end, char **to)
{
    bool quoted = false;
    for (; *at < end && (quoted || **at != ','); (*at)++) {
        if (**at != '"')
            *(*to)++ = **at;
        else if (quoted && *at + 1 < end && (*at)[1] == '"')
            *(*to)++ = *(*at)++;
        else
            quoted = !quoted;
    }
    *(*to)++ = '\0';
    return !quoted;
}

enum wt_code wt_csv_split(struct wt_csv_line *csv, const char *path, const struct wt_line *line, struct wt_error *err)
{
    csv->text = wt_grow(csv->text, &csv->capacity, line->length + 1, 1);
    csv->count = 0;
    const char *at = line->text, *end = at + line->length;
    for (char *to = csv->text;; at++) {
        if (csv->count == WT_NCU_MOST_COLUMNS)
            return wt_fail_at(err, path, line->number, "has more than %d columns; this is not a page of Nsight Compute",
                              WT_NCU_MOST_COLUMNS);
        csv->fields = wt_grow(csv->fields, &csv->field_capacity, csv->count + 1, sizeof *csv->fields);
        csv->fields[csv->count++] = to;
        if (!take_field(&at, end, &to))
            return wt_fail_at(err, path, line->number, "has a quote that is not closed; the line is damaged or cut off");
        if (at == end)
            return WT_OK;
    }
}

void wt_csv_clear(struct wt_csv_line *csv)
{
    free(csv->text);
    free(csv->fields);
    *csv = (struct wt_csv_line){0};
}

bool wt_csv_number(const char *field, double *value)
{
    char digits[64];
    size_t length = 0;
    for (; *field; field++) {
        if (*field == ',')
            continue;
        if (length == sizeof digits - 1 || (!isdigit((unsigned char)*field) && !strchr("+-.eE", *field)))
            return false;
        digits[length++] = *field;
    }
    digits[length] = '\0';
    char *rest;
    *value = strtod(digits, &rest);
    return length > 0 && !*rest && isfinite(*value);
}
