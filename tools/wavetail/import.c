#include "import.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"

static const struct import_kind *const kinds[] = {&import_sass, &import_ncu, &import_ptxas};

enum { KINDS = sizeof kinds / sizeof *kinds, KEY_GRID = 0x3301, KEY_BLOCK, KEY_ARCHITECTURE };

/* ---- Command line ---- */

static int parse_architecture(struct argp_state *state, const char *text)
{
    const char *digits = strncmp(text, "sm_", 3) ? text : text + 3;
    return (int)parse_integer(state, "arch", digits, 10, 999);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct import_options *o = state->input;
    switch (key) {
    case 'o':
        o->out = text;
        return 0;
    case KEY_GRID:
        o->grid = parse_integer(state, "grid", text, 1, 2147483647);
        return 0;
    case KEY_BLOCK:
        o->block = parse_integer(state, "block", text, 1, 1024);
        return 0;
    case KEY_ARCHITECTURE:
        o->architecture = parse_architecture(state, text);
        return 0;
    case ARGP_KEY_ARG:
        if (o->file)
            argp_error(state, "one file at a time, not also '%s'", text);
        o->file = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which file?");
        return 0;
    case ARGP_KEY_INIT:
        o->out = "-";
        o->grid = 1024;
        o->block = 256;
        state->child_inputs[0] = &o->sass;
        state->child_inputs[1] = &o->common;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "what to write (default: standard output)", 1},
    {"arch", KEY_ARCHITECTURE, "sm_N", 0, "of ptxas: the architecture, where the file holds several", 1},
    {"grid", KEY_GRID, "N", 0, "of ptxas: blocks, for the workload (default 1024)", 1},
    {"block", KEY_BLOCK, "N", 0, "of ptxas and sass: threads of a block (default 256)", 1},
    {0}};

static const struct argp_child children[] = {{&sass_input_argp, 0, NULL, 0}, {&common_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "sass|ncu|ptxas FILE",
    .doc = "Makes this project's files of what other tools print.\v"
           "sass   cuobjdump -sass           a program: `program = \"FILE.wtp\";` in a workload\n"
           "ncu    ncu --page source --csv   the counts that --ncu-source needs, as a small file\n"
           "ncu    ncu --page raw --csv      a workload: its launches, each block as long as a block was on average\n"
           "ptxas  nvcc -Xptxas -v, or cuobjdump -res-usage\n"
           "                                 a workload: kernels with registers, shared memory and barriers",
    .children = children};

/* ---- Choosing ---- */

static bool asks_for_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "--usage") || !strcmp(word, "-?");
}

static enum wt_code no_such_kind(const char *name, struct wt_error *err)
{
    const char *names[KINDS];
    for (int i = 0; i < KINDS; i++)
        names[i] = kinds[i]->name;
    const char *nearest = wt_nearest(name, names, KINDS);
    if (nearest)
        return wt_fail(err, WT_BAD_USAGE, "wavetail import: no kind '%s'; did you mean '%s'?", name, nearest);
    return wt_fail(err, WT_BAD_USAGE, "wavetail import: '%s' cannot be imported; there are sass, ncu and ptxas", name);
}

static enum wt_code import(int argc, char **argv, struct wt_error *err)
{
    struct import_options o = {0};
    if (argc < 2 || asks_for_help(argv[1]))
        return parse_arguments(&argp, argc, argv, &o);
    const struct import_kind *kind = NULL;
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(argv[1], kinds[i]->name))
            kind = kinds[i];
    if (!kind)
        return no_such_kind(argv[1], err);
    argv[1] = argv[0];
    WT_TRY(parse_arguments(&argp, argc - 1, argv + 1, &o));
    return kind->import(&o, err);
}

/* ---- Workloads ---- */

static void write_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

static void write_kernel(FILE *stream, const struct import_kernel *k)
{
    fputs("    { name = ", stream);
    write_string(stream, k->name);
    fprintf(stream, "; grid = %lld; block = %lld; registers = %d;%s%s\n", k->grid, k->block, k->registers,
            k->comment ? " # " : "", k->comment ? k->comment : "");
    fprintf(stream, "      static_shared = %d; dynamic_shared = %d;", k->static_shared, k->dynamic_shared);
    if (k->barriers >= 0)
        fprintf(stream, " barriers = %d;", k->barriers);
    fprintf(stream, "\n      duration = { distribution = \"constant\"; cycles = %.1f; }; }", k->cycles);
}

void import_write_workload(FILE *stream, const char *head, const char *gpu, const struct import_kernel *kernels, size_t count)
{
    for (const char *line = head; *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(stream, "# %.*s\n", (int)length, line);
        line += line[length] ? length + 1 : length;
    }
    if (gpu)
        fprintf(stream, "gpu = \"%s\";\n", gpu);
    fputs("kernels = (\n", stream);
    for (size_t i = 0; i < count; i++) {
        write_kernel(stream, &kernels[i]);
        fputs(i + 1 < count ? ",\n" : "\n", stream);
    }
    fputs(");\n", stream);
}

const struct command import_command = {
    .name = "import", .summary = "make programs, counts and workloads of other tools' output", .run = import};
