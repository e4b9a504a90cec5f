#include "core/config.h"

#include <ctype.h>
#include <errno.h>
#include <libconfig.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct wt_config {
    config_t tree;
    char *path;
};

enum { DEEPEST = 64 };

/* One pass over the text before libconfig sees it: `in` is copied to `out`, where an integer that libconfig
 * would silently cut to 32 bits gets the suffix L, and arrays become lists, which may mix 1 and 2.5. Brackets
 * and strings are checked here since libconfig cannot say where one was opened, recurses as deep as they
 * nest, and leaks a string in a wrong place. */
struct scan {
    const char *in, *end;
    char *out; /* room for one L per ten characters: nothing shorter overflows; NUL-terminated by its
                  allocation */
    long line;
    char before; /* last character that is neither blank nor comment; 0 at the start */
    int depth;
    char opener[DEEPEST];
    long opened[DEEPEST]; /* line */
    const char *path;
    struct wt_error *err;
};

static bool at(const struct scan *s, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(s->end - s->in) >= n && !memcmp(s->in, word, n);
}

static void copy_char(struct scan *s)
{
    s->line += *s->in == '\n';
    *s->out++ = *s->in++;
}

static void copy_until(struct scan *s, const char *closer)
{
    while (s->in < s->end && !at(s, closer))
        copy_char(s);
    for (size_t i = strlen(closer); i > 0 && s->in < s->end; i--)
        copy_char(s);
}

/* Whether libconfig's grammar takes a string after what came before. */
static bool string_may_stand(const struct scan *s)
{
    bool in_list = s->depth > 0 && s->opener[s->depth - 1] != '{';
    return s->before && strchr(in_list ? "=:([,\"" : "=:\"", s->before);
}

static enum wt_code copy_string(struct scan *s)
{
    long line = s->line;
    if (!string_may_stand(s))
        return wt_fail_at(s->err, s->path, line,
                          "a string cannot stand here; look for a missing name, '=', ';' or ','");
    copy_char(s);
    while (s->in < s->end && *s->in != '"') {
        if (*s->in == '\\' && s->in + 1 < s->end)
            copy_char(s);
        copy_char(s);
    }
    if (s->in == s->end)
        return wt_fail_at(s->err, s->path, line, "this string does not end; add the closing quote");
    copy_char(s);
    return WT_OK;
}

static enum wt_code copy_opener(struct scan *s)
{
    if (s->depth == DEEPEST)
        return wt_fail_at(s->err, s->path, s->line, "nested deeper than %d brackets; flatten it", DEEPEST);
    s->opener[s->depth] = *s->in;
    s->opened[s->depth++] = s->line;
    copy_char(s);
    if (s->out[-1] == '[')
        s->out[-1] = '(';
    return WT_OK;
}

static enum wt_code copy_closer(struct scan *s)
{
    char wanted = s->depth == 0                    ? '\0'
                  : s->opener[s->depth - 1] == '(' ? ')'
                  : s->opener[s->depth - 1] == '[' ? ']'
                                                   : '}';
    if (!wanted)
        return wt_fail_at(s->err, s->path, s->line, "'%c' closes nothing; remove it", *s->in);
    if (*s->in != wanted)
        return wt_fail_at(s->err, s->path, s->line, "'%c' does not close the '%c' of line %ld; write '%c'",
                          *s->in, s->opener[s->depth - 1], s->opened[s->depth - 1], wanted);
    s->depth--;
    copy_char(s);
    if (s->out[-1] == ']')
        s->out[-1] = ')';
    return WT_OK;
}

static void copy_name(struct scan *s)
{
    while (s->in < s->end && (isalnum((unsigned char)*s->in) || strchr("_-*", *s->in)))
        copy_char(s);
}

/* The number at `in`; a sign in front was copied already. */
static enum wt_code copy_number(struct scan *s)
{
    bool hex = at(s, "0x") || at(s, "0X");
    uint64_t value = 0;
    bool fits = true;
    for (int skip = hex ? 2 : 0; skip > 0; skip--)
        copy_char(s);
    unsigned base = hex ? 16 : 10;
    while (s->in < s->end && (hex ? isxdigit((unsigned char)*s->in) : isdigit((unsigned char)*s->in))) {
        unsigned char c = (unsigned char)*s->in;
        unsigned digit = isdigit(c) ? (unsigned)(c - '0') : (unsigned)tolower(c) - 'a' + 10;
        fits = fits && value <= ((uint64_t)INT64_MAX - digit) / base;
        value = fits ? value * base + digit : value;
        copy_char(s);
    }
    if (s->in < s->end && !hex && strchr(".eE", *s->in)) {
        while (s->in < s->end && (isdigit((unsigned char)*s->in) || strchr(".eE+-", *s->in)))
            copy_char(s);
        return WT_OK;
    }
    if (!fits)
        return wt_fail_at(s->err, s->path, s->line,
                          "this whole number does not fit 64 bits; write a smaller one");
    if (value > INT_MAX && !(s->in < s->end && *s->in == 'L'))
        *s->out++ = 'L';
    while (s->in < s->end && *s->in == 'L')
        copy_char(s);
    return WT_OK;
}

/* A blank or comment at `in`: copied, and true. */
static bool copy_gap(struct scan *s)
{
    if (*s->in == '#' || at(s, "//"))
        copy_until(s, "\n");
    else if (at(s, "/*"))
        copy_until(s, "*/");
    else if (isspace((unsigned char)*s->in))
        copy_char(s);
    else
        return false;
    return true;
}

static enum wt_code copy_token(struct scan *s)
{
    unsigned char c = (unsigned char)*s->in;
    if (at(s, "@include"))
        return wt_fail_at(s->err, s->path, s->line,
                          "@include is not supported; name the other file as base instead");
    if (c == '"')
        return copy_string(s);
    if (strchr("([{", c))
        return copy_opener(s);
    if (strchr(")]}", c))
        return copy_closer(s);
    if (isdigit(c) || c == '.')
        return copy_number(s);
    if (isalpha(c) || c == '*')
        copy_name(s);
    else
        copy_char(s);
    return WT_OK;
}

static enum wt_code copy_all(struct scan *s)
{
    while (s->in < s->end) {
        if (copy_gap(s))
            continue;
        WT_TRY(copy_token(s));
        s->before = s->in[-1];
    }
    if (s->depth == 0)
        return WT_OK;
    return wt_fail_at(s->err, s->path, s->opened[s->depth - 1],
                      "this '%c' is not closed; add the closing bracket", s->opener[s->depth - 1]);
}

static enum wt_code prepare(const char *text, size_t size, const char *path, char **out, struct wt_error *err)
{
    *out = wt_alloc(size + size / 8 + 2, 1);
    struct scan s = {.in = text, .end = text + size, .out = *out, .line = 1, .path = path, .err = err};
    if (at(&s, "\xef\xbb\xbf")) /* a byte order mark */
        s.in += 3;
    enum wt_code code = copy_all(&s);
    if (code != WT_OK) {
        free(*out);
        *out = NULL;
    }
    return code;
}

static enum wt_code parse_failure(const config_t *tree, const char *path, struct wt_error *err)
{
    const char *what = config_error_text(tree) ? config_error_text(tree) : "syntax error";
    const char *remedy = strcmp(what, "duplicate setting name")
                             ? "look for a missing ';', '=' or ',' here or just before"
                             : "remove one of the two";
    return wt_fail_at(err, path, config_error_line(tree), "%s; %s", what, remedy);
}

enum wt_code wt_config_parse(const char *text, size_t size, const char *path, struct wt_config **out,
                             struct wt_error *err)
{
    *out = NULL;
    if (size > WT_CONFIG_MAX_BYTES)
        return wt_fail_at(err, path, 0, "larger than %d MiB; a config file is small text",
                          WT_CONFIG_MAX_BYTES >> 20);
    if (memchr(text, '\0', size))
        return wt_fail_at(err, path, 0, "holds a NUL byte, so it is not text; give a config file");
    char *prepared;
    WT_TRY(prepare(text, size, path, &prepared, err));
    struct wt_config *config = wt_alloc(1, sizeof *config);
    config_init(&config->tree);
    config->path = wt_strdup(path);
    enum wt_code code = WT_OK;
    if (config_read_string(&config->tree, prepared) != CONFIG_TRUE)
        code = parse_failure(&config->tree, path, err);
    free(prepared);
    if (code == WT_OK)
        *out = config;
    else
        wt_config_free(config);
    return code;
}

enum wt_code wt_config_load(const char *path, char **text, size_t *size, struct wt_error *err)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return wt_fail_at(err, path, 0, "cannot open: %s; check the name", strerror(errno));
    size_t capacity = 0;
    *text = NULL;
    *size = 0;
    do {
        *text = wt_grow(*text, &capacity, *size + 4096, 1);
        *size += fread(*text + *size, 1, capacity - *size, file);
    } while (!feof(file) && !ferror(file) && *size <= WT_CONFIG_MAX_BYTES);
    int problem = ferror(file) ? errno : 0;
    fclose(file);
    if (!problem)
        return WT_OK;
    free(*text);
    return wt_fail_at(err, path, 0, "cannot read: %s; give a config file", strerror(problem));
}

enum wt_code wt_config_read(const char *path, struct wt_config **out, struct wt_error *err)
{
    char *text = NULL;
    size_t size = 0;
    *out = NULL;
    WT_TRY(wt_config_load(path, &text, &size, err));
    enum wt_code code = wt_config_parse(text, size, path, out, err);
    free(text);
    return code;
}

void wt_config_free(struct wt_config *config)
{
    if (!config)
        return;
    config_destroy(&config->tree);
    free(config->path);
    free(config);
}

const char *wt_config_path(const struct wt_config *config)
{
    return config->path;
}

const config_setting_t *wt_config_root(const struct wt_config *config)
{
    return config_root_setting(&config->tree);
}

long wt_config_line(const config_setting_t *setting)
{
    return setting->line;
}

const config_setting_t *wt_config_group(const config_setting_t *group, const char *key)
{
    const config_setting_t *member =
        config_setting_is_group(group) ? config_setting_get_member(group, key) : NULL;
    return member && config_setting_is_group(member) ? member : NULL;
}

size_t wt_config_count(const config_setting_t *group, const char *key)
{
    const config_setting_t *list =
        config_setting_is_group(group) ? config_setting_get_member(group, key) : NULL;
    return list && config_setting_is_aggregate(list) ? (size_t)config_setting_length(list) : 0;
}

const config_setting_t *wt_config_element(const config_setting_t *group, const char *key, size_t index)
{
    if (index >= wt_config_count(group, key))
        return NULL;
    return config_setting_get_elem(config_setting_get_member(group, key), (unsigned)index);
}

enum wt_code wt_config_fail(const struct wt_config *config, const config_setting_t *setting,
                            struct wt_error *err, const char *format, ...)
{
    char what[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return wt_fail_at(err, config->path, wt_config_line(setting), "%s", what);
}

/* ---- Changing a tree ---- */

static void copy_value(config_setting_t *to, const config_setting_t *from)
{
    switch (config_setting_type(from)) {
    case CONFIG_TYPE_INT:
        config_setting_set_int(to, config_setting_get_int(from));
        break;
    case CONFIG_TYPE_INT64:
        config_setting_set_int64(to, config_setting_get_int64(from));
        break;
    case CONFIG_TYPE_FLOAT:
        config_setting_set_float(to, config_setting_get_float(from));
        break;
    case CONFIG_TYPE_BOOL:
        config_setting_set_bool(to, config_setting_get_bool(from));
        break;
    case CONFIG_TYPE_STRING:
        config_setting_set_string(to, config_setting_get_string(from));
        break;
    }
}

/* Lists are of plain values. */
static void add_setting(config_setting_t *group, const char *name, const config_setting_t *from, unsigned line)
{
    config_setting_t *to = config_setting_add(group, name, config_setting_type(from));
    to->line = line;
    if (!config_setting_is_aggregate(from)) {
        copy_value(to, from);
        return;
    }
    for (int i = 0; i < config_setting_length(from); i++) {
        const config_setting_t *element = config_setting_get_elem(from, (unsigned)i);
        config_setting_t *copy = config_setting_add(to, NULL, config_setting_type(element));
        if (!copy)
            continue;
        copy->line = line;
        copy_value(copy, element);
    }
}

static void add_number(config_setting_t *group, const char *name, double number, unsigned line)
{
    bool whole = number == floor(number) && fabs(number) < 9e15;
    config_setting_t *to = config_setting_add(group, name, whole ? CONFIG_TYPE_INT64 : CONFIG_TYPE_FLOAT);
    to->line = line;
    if (whole)
        config_setting_set_int64(to, (long long)number);
    else
        config_setting_set_float(to, number);
}

/* As libconfig has them. */
static bool is_name(const char *text)
{
    return (isalpha((unsigned char)*text) || *text == '*') &&
           !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_*")];
}

/* Member `name`, which is made where it is missing; NULL where it is no group. */
static config_setting_t *group_within(config_setting_t *group, const char *name)
{
    config_setting_t *member = config_setting_get_member(group, name);
    if (!member) {
        member = config_setting_add(group, name, CONFIG_TYPE_GROUP);
        if (member)
            member->line = group->line;
    }
    return member && config_setting_is_group(member) ? member : NULL;
}

enum wt_code wt_config_set(struct wt_config *config, const config_setting_t *group, const char *path,
                           const struct wt_config_value *value, struct wt_error *err)
{
    config_setting_t *at = (config_setting_t *)group;
    if (!config_setting_is_group(at))
        return wt_config_fail(config, at, err, "a group is needed here, for '%s'; give one in braces", path);
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        char *name = strndup(path, (size_t)(dot - path));
        config_setting_t *inner = group_within(at, name);
        enum wt_code code = inner ? WT_OK : wt_config_fail(config, at, err, "'%s' is not a group; give another key", name);
        free(name);
        WT_TRY(code);
        at = inner;
    }
    if (!is_name(path))
        return wt_config_fail(config, at, err, "'%s' cannot be a key; give letters, digits, '_' and '-'", path);
    const config_setting_t *old = config_setting_get_member(at, path);
    unsigned line = old ? old->line : at->line;
    if (old)
        config_setting_remove(at, path);
    if (value->setting)
        add_setting(at, path, value->setting, line);
    else
        add_number(at, path, value->number, line);
    return WT_OK;
}

void wt_config_remove(struct wt_config *config, const char *key)
{
    config_setting_remove(config_root_setting(&config->tree), key);
}
