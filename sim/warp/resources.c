#include "warp/resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lines.h"
#include "core/mem.h"

enum { MOST_TEXT = 4096, MOST_VALUE = 1 << 30, ARCHITECTURE_WITH_RESERVED = 90 };

struct reader {
    const char *path;
    struct wt_resources *resources;
    char text[MOST_TEXT]; /* the line, shortened where it is long */
    long line;
    int architecture;  /* of the kernels that follow */
    bool in_kernel;    /* the last kernel's lines are being read */
    bool has_usage;    /* its registers have been told */
    bool of_cuobjdump;
};

/* ---- Numbers in a line ---- */

/* The number in front of `words`, as in "4224 bytes smem"; -1: not there. "96+16 bytes smem" is the sum. */
static long number_before(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    long sum = 0;
    if (!at || at == text || at[-1] != ' ')
        return -1;
    for (at--; at > text && ((at[-1] >= '0' && at[-1] <= '9') || at[-1] == '+'); at--)
        ;
    if (*at < '0' || *at > '9')
        return -1;
    for (char *end; *at >= '0' && *at <= '9'; at = *end == '+' ? end + 1 : end)
        sum += strtol(at, &end, 10);
    return sum >= 0 && sum <= MOST_VALUE ? sum : -1;
}

/* The number behind `key`, as in "REG:22"; -1: not there. */
static long number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    char *end;
    long value = at ? strtol(at + strlen(key), &end, 10) : -1;
    return at && end != at + strlen(key) && value >= 0 && value <= MOST_VALUE ? value : -1;
}

static int known(long value, int otherwise)
{
    return value < 0 ? otherwise : (int)value;
}

/* ---- Kernels ---- */

static struct wt_kernel_resources *last_kernel(const struct reader *r)
{
    return &r->resources->kernels[r->resources->count - 1];
}

/* `length` characters of `name`. */
static void begin_kernel(struct reader *r, const char *name, size_t length)
{
    struct wt_resources *all = r->resources;
    all->kernels = wt_grow(all->kernels, &all->capacity, all->count + 1, sizeof *all->kernels);
    all->kernels[all->count++] = (struct wt_kernel_resources){.name = wt_format("%.*s", (int)length, name),
                                                              .architecture = r->architecture,
                                                              .spill_store_bytes = -1,
                                                              .spill_load_bytes = -1,
                                                              .barriers = -1,
                                                              .line = r->line};
    r->in_kernel = true;
    r->has_usage = false;
}

static enum wt_code end_kernel(struct reader *r, struct wt_error *err)
{
    if (r->resources->count == 0 || r->has_usage)
        return WT_OK;
    return wt_fail_at(err, r->path, last_kernel(r)->line, "'%s' has no line that tells its registers; the file is cut off",
                      last_kernel(r)->name);
}

/* ---- ptxas ---- */

/* "Compiling entry function '_Z4tilePKfPf' for 'sm_90'" */
static enum wt_code begin_entry(struct reader *r, const char *at, struct wt_error *err)
{
    WT_TRY(end_kernel(r, err));
    const char *name = strchr(at, '\'') + 1, *end = strchr(name, '\'');
    const char *architecture = end ? strstr(end, "'sm_") : NULL;
    if (!end || end == name || !architecture)
        return wt_fail_at(err, r->path, r->line, "names no kernel and architecture; the line is damaged");
    r->architecture = atoi(architecture + 4);
    begin_kernel(r, name, (size_t)(end - name));
    return WT_OK;
}

/* "Function properties for NAME" comes for the kernel and for functions it calls. */
static void take_properties(struct reader *r, const char *name)
{
    if (r->resources->count > 0)
        r->in_kernel = !strcmp(name, last_kernel(r)->name);
}

static void take_stack(struct reader *r)
{
    struct wt_kernel_resources *kernel = last_kernel(r);
    kernel->stack_bytes = known(number_before(r->text, "bytes stack frame"), 0);
    kernel->spill_store_bytes = known(number_before(r->text, "bytes spill stores"), -1);
    kernel->spill_load_bytes = known(number_before(r->text, "bytes spill loads"), -1);
}

static enum wt_code take_used(struct reader *r, const char *at, struct wt_error *err)
{
    struct wt_kernel_resources *kernel = last_kernel(r);
    long registers = number_before(at, "registers");
    if (registers < 0 || registers > 255)
        return wt_fail_at(err, r->path, r->line, "tells no number of registers from 0 to 255; the line is damaged");
    kernel->registers = (int)registers;
    kernel->barriers = known(number_before(at, "barriers"), kernel->barriers);
    kernel->static_shared_bytes = known(number_before(at, "bytes smem"), 0);
    kernel->stack_bytes = known(number_before(at, "bytes cumulative stack size"), kernel->stack_bytes);
    r->has_usage = true;
    return WT_OK;
}

static enum wt_code take_ptxas(struct reader *r, struct wt_error *err)
{
    static const char entry[] = "Compiling entry function '", properties[] = "Function properties for ", used[] = ": Used ";
    const char *at;
    if ((at = strstr(r->text, entry)))
        return begin_entry(r, at, err);
    if ((at = strstr(r->text, properties)))
        take_properties(r, at + strlen(properties));
    else if (r->in_kernel && strstr(r->text, "bytes stack frame"))
        take_stack(r);
    else if ((at = strstr(r->text, used)) && r->resources->count > 0 && !r->has_usage)
        return take_used(r, at + 2, err);
    return WT_OK;
}

/* ---- cuobjdump ---- */

static enum wt_code take_usage(struct reader *r, struct wt_error *err)
{
    struct wt_kernel_resources *kernel = last_kernel(r);
    long registers = number_behind(r->text, "REG:"), shared = number_behind(r->text, "SHARED:");
    if (registers < 0 || registers > 255 || shared < 0)
        return wt_fail_at(err, r->path, r->line, "tells no REG: from 0 to 255 and SHARED:; the line is damaged");
    kernel->registers = (int)registers;
    kernel->static_shared_bytes = (int)shared;
    kernel->stack_bytes = known(number_behind(r->text, "STACK:"), 0);
    r->has_usage = true;
    return WT_OK;
}

static enum wt_code take_cuobjdump(struct reader *r, struct wt_error *err)
{
    const char *at;
    if ((at = strstr(r->text, "arch = sm_"))) {
        r->architecture = atoi(at + strlen("arch = sm_"));
    } else if ((at = strstr(r->text, "Function ")) && strchr(at, ':')) {
        WT_TRY(end_kernel(r, err));
        r->of_cuobjdump = true;
        at += strlen("Function ");
        begin_kernel(r, at, strcspn(at, ":"));
    } else if (r->of_cuobjdump && !r->has_usage && strstr(r->text, "REG:")) {
        return take_usage(r, err);
    }
    return WT_OK;
}

/* SHARED holds what the driver reserves where the architecture says so; without one, where every kernel has as much. */
static void take_off_reserved(struct wt_resources *all)
{
    bool each_has = true, stated = false;
    for (size_t i = 0; i < all->count; i++) {
        each_has &= all->kernels[i].static_shared_bytes >= WT_SHARED_RESERVED;
        stated |= all->kernels[i].architecture > 0;
    }
    all->reserved_taken_off = !stated && each_has;
    for (size_t i = 0; i < all->count; i++) {
        struct wt_kernel_resources *kernel = &all->kernels[i];
        bool holds = kernel->architecture >= ARCHITECTURE_WITH_RESERVED || all->reserved_taken_off;
        if (holds && kernel->static_shared_bytes >= WT_SHARED_RESERVED)
            kernel->static_shared_bytes -= WT_SHARED_RESERVED;
    }
}

/* ---- Files ---- */

static void drop_repeated(struct wt_resources *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        bool again = false;
        for (size_t j = i + 1; j < all->count && !again; j++)
            again = all->kernels[j].architecture == all->kernels[i].architecture && !strcmp(all->kernels[j].name, all->kernels[i].name);
        if (again)
            free(all->kernels[i].name);
        else
            all->kernels[kept++] = all->kernels[i];
    }
    all->count = kept;
}

static enum wt_code read_lines(struct reader *r, struct wt_lines *lines, struct wt_error *err)
{
    struct wt_line line = {0};
    for (bool more = true;;) {
        WT_TRY(wt_lines_next(lines, &line, &more, err));
        if (!more)
            break;
        r->line = line.number;
        snprintf(r->text, sizeof r->text, "%.*s", (int)(line.length < MOST_TEXT ? line.length : MOST_TEXT - 1), line.text);
        WT_TRY(strstr(r->text, "ptxas") || strstr(r->text, "bytes stack frame") ? take_ptxas(r, err) : take_cuobjdump(r, err));
    }
    if (r->resources->count == 0)
        return wt_fail_at(err, r->path, 0, "tells no kernel's registers; give what nvcc -Xptxas -v or cuobjdump -res-usage prints");
    WT_TRY(end_kernel(r, err));
    if (r->of_cuobjdump)
        take_off_reserved(r->resources);
    drop_repeated(r->resources);
    return WT_OK;
}

static enum wt_code read_all(const char *path, struct wt_lines *lines, struct wt_resources **out, struct wt_error *err)
{
    struct reader *reader = wt_alloc(1, sizeof *reader);
    reader->path = path;
    reader->resources = wt_alloc(1, sizeof *reader->resources);
    enum wt_code code = read_lines(reader, lines, err);
    wt_lines_close(lines);
    if (code == WT_OK)
        *out = reader->resources;
    else
        wt_resources_free(reader->resources);
    free(reader);
    return code;
}

enum wt_code wt_resources_read(const char *path, struct wt_resources **out, struct wt_error *err)
{
    struct wt_lines *lines;
    *out = NULL;
    WT_TRY(wt_lines_open(path, &lines, err));
    return read_all(path, lines, out, err);
}

enum wt_code wt_resources_read_memory(const char *name, const void *data, size_t size, struct wt_resources **out,
                                      struct wt_error *err)
{
    struct wt_lines *lines;
    *out = NULL;
    WT_TRY(wt_lines_open_memory(name, data, size, &lines, err));
    return read_all(name, lines, out, err);
}

void wt_resources_free(struct wt_resources *resources)
{
    if (!resources)
        return;
    for (size_t i = 0; i < resources->count; i++)
        free(resources->kernels[i].name);
    free(resources->kernels);
    free(resources);
}
