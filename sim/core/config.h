/* Config files as a tree of settings: libconfig's syntax and parser, plus what it lacks. Integers too large for
 * 32 bits keep their value; [1, 2.5] may mix kinds of numbers and nest; NUL bytes, oversized files, brackets
 * nested deeper than 64 and @include are refused (files name a base instead); and every failure says where and
 * what to do. */
#ifndef WT_CORE_CONFIG_H
#define WT_CORE_CONFIG_H

#include <stddef.h>

#include "core/status.h"

struct config_setting_t; /* libconfig.h */

struct wt_config; /* a parsed file; owns its settings */

enum { WT_CONFIG_MAX_BYTES = 64 << 20 };

/* Reads and parses a file. On failure *out is NULL and `err` says "FILE:LINE: what, and what to do". */
enum wt_code wt_config_read(const char *path, struct wt_config **out, struct wt_error *err);

/* Parses `size` bytes; `path` only names them in messages. */
enum wt_code wt_config_parse(const char *text, size_t size, const char *path, struct wt_config **out,
                             struct wt_error *err);

/* The file's bytes, owned by the caller; fails where it cannot be read. */
enum wt_code wt_config_load(const char *path, char **text, size_t *size, struct wt_error *err);

/* NULL is allowed. */
void wt_config_free(struct wt_config *config);

const char *wt_config_path(const struct wt_config *config);

/* The whole file as a group. Never NULL; lives as long as `config`. */
const struct config_setting_t *wt_config_root(const struct wt_config *config);

/* Line of a setting, from 1; 0 for the root group. */
long wt_config_line(const struct config_setting_t *setting);

/* Member `key` of `group` where it is a group itself, else NULL. */
const struct config_setting_t *wt_config_group(const struct config_setting_t *group, const char *key);

/* Elements of the list, array or group `key` of `group` (a plain name, not dotted); 0 when it is absent. */
size_t wt_config_count(const struct config_setting_t *group, const char *key);

/* Element `index` of the list `key`, or NULL. */
const struct config_setting_t *wt_config_element(const struct config_setting_t *group, const char *key,
                                                 size_t index);

/* A value to be put into a tree. */
struct wt_config_value {
    const struct config_setting_t *setting; /* a plain value or a list of them, of any tree; NULL: the number */
    double number;                          /* put as a whole number where it is one */
};

/* Member `path` ("duration.cycles") of `group`, one of this tree, becomes the value; groups on the way are made. Its line
 * becomes the old member's, or the group's. Fails where something on the way is no group, or a name no name. */
enum wt_code wt_config_set(struct wt_config *config, const struct config_setting_t *group, const char *path,
                           const struct wt_config_value *value, struct wt_error *err);

/* Member `key` of the root is no more; harmless where there is none. */
void wt_config_remove(struct wt_config *config, const char *key);

/* Records an error at a setting's file and line; returns WT_BAD_INPUT. */
enum wt_code wt_config_fail(const struct wt_config *config, const struct config_setting_t *setting,
                            struct wt_error *err, const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
