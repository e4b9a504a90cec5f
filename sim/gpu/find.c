/* Which GPU files there are and where. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/text.h"
#include "gpu/file.h"

enum { MOST_FOLDERS = 4, MOST_NEAR = 4 };

struct names {
    char **items; /* owned, with its strings */
    size_t count, capacity;
};

static void add_name(struct names *names, char *owned)
{
    names->items = wt_grow(names->items, &names->capacity, names->count + 1, sizeof *names->items);
    names->items[names->count++] = owned;
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

/* The folders that names are looked up in, in order. */
static struct names folders(void)
{
    struct names found = {0};
    const char *own = getenv("WAVETAIL_CONFIGS");
    if (own && *own) {
        add_name(&found, wt_format("%s/gpus", own));
        add_name(&found, wt_strdup(own));
    }
    add_name(&found, wt_strdup(WT_SOURCE_CONFIGS "/gpus"));
    add_name(&found, wt_strdup(WT_INSTALLED_CONFIGS "/gpus"));
    return found;
}

bool wt_gpu_is_path(const char *text)
{
    size_t length = strlen(text);
    return strchr(text, '/') || (length > 4 && !strcmp(text + length - 4, ".cfg"));
}

static void add_folder(struct names *names, const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && !strcmp(entry->d_name + length - 4, ".cfg") && !strchr("_.", entry->d_name[0]))
            add_name(names, wt_format("%.*s", (int)length - 4, entry->d_name));
    }
    closedir(dir);
}

/* Numbers in names by value: "cc9.0" before "cc10.0". */
static int compare(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static bool is_bare(const char *name)
{
    return !strncmp(name, "cc", 2) && isdigit((unsigned char)name[2]);
}

/* Everything there is, sorted, with duplicates. */
static struct names scan(void)
{
    struct names names = {0}, where = folders();
    for (size_t i = 0; i < where.count; i++) {
        /* A folder for all kinds of configs holds GPUs only in its gpus/, if it has one. */
        bool mixed = where.count == MOST_FOLDERS && i == 1 && access(where.items[0], F_OK) == 0;
        if (!mixed)
            add_folder(&names, where.items[i]);
    }
    free_names(&where);
    if (names.count)
        qsort(names.items, names.count, sizeof *names.items, compare);
    return names;
}

enum wt_code wt_gpu_list(bool with_bare, char ***out, size_t *count, struct wt_error *err)
{
    struct names names = scan();
    *count = 0;
    for (size_t i = 0; i < names.count; i++) {
        bool again = *count > 0 && !strcmp(names.items[i], names.items[*count - 1]);
        if (again || (is_bare(names.items[i]) && !with_bare))
            free(names.items[i]);
        else
            names.items[(*count)++] = names.items[i];
    }
    *out = names.items;
    if (*count > 0)
        return WT_OK;
    free(names.items);
    *out = NULL;
    return wt_fail(err, WT_BAD_INPUT, "no GPU files in %s or %s; set WAVETAIL_CONFIGS to the folder that holds gpus/",
                   WT_SOURCE_CONFIGS "/gpus", WT_INSTALLED_CONFIGS "/gpus");
}

static char *lower(const char *text)
{
    char *copy = wt_strdup(text);
    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

static bool contained(const struct names *names, const char *word)
{
    for (size_t i = 0; i < names->count; i++)
        if (strstr(names->items[i], word))
            return true;
    return false;
}

/* "; did you mean 'a100-sxm-80gb'?" from names that contain the word, else the one spelt like it; "" when none is. */
static char *suggestion(const char *name)
{
    struct names all = scan();
    char *word = lower(name), *text = wt_strdup("");
    const char *nearest = wt_nearest(word, (const char *const *)all.items, all.count);
    const char *part = contained(&all, word) || !nearest ? word : nearest;
    int near = 0;
    for (size_t i = 0; i < all.count && near < MOST_NEAR; i++) {
        bool again = i > 0 && !strcmp(all.items[i], all.items[i - 1]);
        if (again || !strstr(all.items[i], part))
            continue;
        char *longer = wt_format("%s%s'%s'", text, near++ ? ", " : "; did you mean ", all.items[i]);
        free(text);
        text = longer;
    }
    free(word);
    free_names(&all);
    char *out = wt_format("%s%s", text, near ? "?" : "");
    free(text);
    return out;
}

enum wt_code wt_gpu_find(const char *name, char **path, struct wt_error *err)
{
    struct names where = folders();
    *path = NULL;
    for (size_t i = 0; i < where.count && !*path && *name; i++) {
        char *candidate = wt_format("%s/%s.cfg", where.items[i], name);
        if (access(candidate, F_OK) == 0)
            *path = candidate;
        else
            free(candidate);
    }
    free_names(&where);
    if (*path)
        return WT_OK;
    char *near = suggestion(name);
    enum wt_code code = wt_fail(err, WT_BAD_INPUT, "no GPU '%s'%s 'wavetail gpus' lists all; a file needs a '/' or "
                                "'.cfg' in its name", name, *near ? near : ";");
    free(near);
    return code;
}

struct wt_gpu *wt_gpu_of_device(const char *device)
{
    char **names;
    size_t count;
    struct wt_gpu *found = NULL;
    if (wt_gpu_list(false, &names, &count, NULL) != WT_OK)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        struct wt_gpu *gpu = NULL;
        if (!found && wt_gpu_load(names[i], &gpu, NULL) == WT_OK && !strcmp(gpu->name, device)) {
            found = gpu;
            gpu = NULL;
        }
        wt_gpu_free(gpu);
        free(names[i]);
    }
    free(names);
    return found;
}
