#include "core/text.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 63 };

/* Levenshtein distance over the first LONGEST characters. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1];
    size_t columns = strnlen(b, LONGEST);
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 0; i < LONGEST && a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < columns; j++) {
            size_t change = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            size_t shift = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            row[j + 1] = change < shift ? change : shift;
        }
    }
    return row[columns];
}

const char *wt_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t allowed = strlen(word) / 3 > 1 ? strlen(word) / 3 : 1;
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, candidates[i]);
        if (d <= allowed) {
            best = candidates[i];
            allowed = d ? d - 1 : 0;
            if (d == 0)
                break;
        }
    }
    return best;
}

void wt_print_wrapped(FILE *stream, int indent, int width, const char *text)
{
    int column = 0;
    for (const char *word = text; *word;) {
        int length = (int)strcspn(word, " ");
        if (column == 0 || column + 1 + length > width) {
            fprintf(stream, "%s%*s%.*s", column ? "\n" : "", indent, "", length, word);
            column = indent + length;
        } else {
            fprintf(stream, " %.*s", length, word);
            column += 1 + length;
        }
        word += length + (word[length] == ' ');
    }
    fputc('\n', stream);
}

size_t wt_utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    static const struct { unsigned char mask, lead; unsigned least; } form[] = {
        {0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t n = 0; n < 4; n++) {
        if ((c[0] & form[n].mask) != form[n].lead)
            continue;
        unsigned point = c[0] & (unsigned char)~form[n].mask;
        for (size_t i = 1; i <= n; i++) {
            if ((c[i] & 0xc0) != 0x80)
                return 0;
            point = point << 6 | (c[i] & 0x3f);
        }
        bool surrogate = point >= 0xd800 && point <= 0xdfff;
        return point >= form[n].least && point <= 0x10ffff && !surrogate ? n + 1 : 0;
    }
    return 0;
}
