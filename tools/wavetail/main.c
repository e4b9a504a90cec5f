#include "command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/outfile.h"
#include "core/text.h"

extern const struct command gpus_command;
extern const struct command run_command;
extern const struct command replay_command;
extern const struct command validate_command;
extern const struct command whatif_command;
extern const struct command topology_command;
extern const struct command import_command;
extern const struct command export_command;
extern const struct command occupancy_command;
extern const struct command calibrate_command;
extern const struct command sweep_command;
extern const struct command view_command;
extern const struct command lesson_command;

static const struct command *const commands[] = {
    &gpus_command,
    &run_command,
    &replay_command,
    &validate_command,
    &whatif_command,
    &topology_command,
    &calibrate_command,
    &import_command,
    &export_command,
    &occupancy_command,
    &sweep_command,
    &view_command,
    &lesson_command,
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *stream)
{
    fputs("Usage: wavetail SUBCOMMAND [OPTION...] [FILE...]\n\n"
          "Simulates how a GPU hands thread blocks to its SMs, and shows the tail of a grid.\n\n", stream);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n`wavetail SUBCOMMAND --help` documents each.\n"
          "Exit status: 0 done, 1 the input is wrong, 2 usage, 3 the simulated programs deadlock.\n", stream);
}

static const struct command *find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    const char *nearest = wt_nearest(name, names, COMMANDS);
    fprintf(stderr, "wavetail: no subcommand '%s'", name);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fputs(nearest ? " " : ". ", stderr);
    fputs("Try 'wavetail --help'.\n", stderr);
    return WT_BAD_USAGE;
}

static void give_up(int signal_number)
{
    wt_outfile_abandon_all();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Who ends the program is left no half files; signals that are ignored stay so. */
static void tidy_up_when_ended(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signal(signals[i], give_up) == SIG_IGN)
            signal(signals[i], SIG_IGN);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return WT_BAD_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help") || !strcmp(argv[1], "-?")) {
        print_help(stdout);
        return WT_OK;
    }
    const struct command *command = find(argv[1]);
    if (!command)
        return unknown(argv[1]);
    argv[1] = wt_format("wavetail %s", command->name);
    struct wt_error err = {0};
    tidy_up_when_ended();
    enum wt_code code = command->run(argc - 1, argv + 1, &err);
    if (err.text[0])
        fprintf(stderr, "%s\n", err.text);
    return (int)code;
}
