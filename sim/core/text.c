#include "core/text.h"

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
