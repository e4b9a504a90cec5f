#include "observe/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Printf's own decimal point is the locale's. */
static void use_points(char *text)
{
    for (char *c = text; *c; c++)
        if (*c == ',')
            *c = '.';
}

static void drop_zeros(char *text)
{
    char *end = text + strlen(text);
    while (strchr(text, '.') && end > text && end[-1] == '0')
        *--end = '\0';
    if (end > text && end[-1] == '.')
        end[-1] = '\0';
}

char *wt_words_count(char *text, uint64_t count)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

char *wt_words_number(char *text, double value)
{
    if (value >= 999.995)
        return wt_words_count(text, (uint64_t)(value + 0.5));
    snprintf(text, WT_WORDS, "%.2f", value);
    use_points(text);
    drop_zeros(text);
    return text;
}

char *wt_words_cycles(char *text, double cycles)
{
    wt_words_number(text, cycles);
    return strcat(text, " cycles");
}

char *wt_words_us(char *text, double us)
{
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{1e-6, "s"}, {1e-3, "ms"}, {1, "µs"}, {1e3, "ns"}};
    size_t unit = 0;
    while (unit < 3 && us * units[unit].scale < 1)
        unit++;
    double value = us * units[unit].scale;
    int whole = 1;
    for (double rest = value; rest >= 10; rest /= 10)
        whole++;
    snprintf(text, WT_WORDS, "%.*f", whole < 4 ? 4 - whole : 0, value);
    use_points(text);
    drop_zeros(text);
    size_t length = strlen(text);
    snprintf(text + length, WT_WORDS - length, " %s", units[unit].unit);
    return text;
}
