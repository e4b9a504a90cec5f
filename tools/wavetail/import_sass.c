/* wavetail import sass: the output of cuobjdump -sass as a program in the project's own language. */
#include "import.h"

#include "core/json.h"
#include "core/outfile.h"
#include "warp/text.h"

static void write_head(FILE *stream, const struct import_options *o, const struct sass_kernel *kernel)
{
    fprintf(stream, "# %s", kernel->function->name);
    if (kernel->sass->architecture)
        fprintf(stream, " for sm_%d", kernel->sass->architecture);
    fprintf(stream, ", from %s", o->file);
    if (o->sass.source)
        fprintf(stream, " and %s", o->sass.source);
    fputc('\n', stream);
    sass_kernel_warn(stream, "# ", kernel);
}

static void print_json(const struct import_options *o, const struct sass_kernel *kernel)
{
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "kernel", kernel->function->name);
    wt_json_int(&json, "architecture", kernel->sass->architecture);
    wt_json_string(&json, "output", o->out);
    wt_json_int(&json, "instructions", (int64_t)kernel->program->count);
    wt_json_int(&json, "loops", (int64_t)kernel->program->loop_count);
    sass_kernel_json(kernel, &json);
    wt_json_close(&json);
    wt_json_end(&json);
}

static enum wt_code write_program(const struct import_options *o, const struct sass_kernel *kernel, struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, o->out, err));
    write_head(out.stream, o, kernel);
    wt_text_write(kernel->program, true, out.stream);
    WT_TRY(wt_outfile_commit(&out, err));
    if (o->common.json)
        print_json(o, kernel);
    if (!o->common.quiet)
        sass_kernel_warn(stderr, "", kernel);
    return WT_OK;
}

static enum wt_code run(const struct import_options *o, struct wt_error *err)
{
    struct sass_kernel kernel;
    if (o->common.json && o->out[0] == '-' && !o->out[1])
        return wt_fail(err, WT_BAD_USAGE, "wavetail import: --json takes standard output; give -o FILE, too");
    enum wt_code code = sass_kernel_read(o->file, &o->sass, &(struct sass_shape){.threads = (int)o->block}, &kernel, err);
    if (code == WT_OK)
        code = write_program(o, &kernel, err);
    sass_kernel_clear(&kernel);
    return code;
}

const struct import_kind import_sass = {.name = "sass", .summary = "cuobjdump -sass", .import = run};
