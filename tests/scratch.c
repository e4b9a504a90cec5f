#include "scratch.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/mem.h"

char scratch[] = "/tmp/wavetail-test-XXXXXX";

void scratch_enter(void)
{
    memcpy(scratch + sizeof scratch - 7, "XXXXXX", 6);
    ck_assert_ptr_nonnull(mkdtemp(scratch));
}

void scratch_leave(void)
{
    char *command = wt_format("rm -rf '%s'", scratch);
    ck_assert_int_eq(system(command), 0);
    free(command);
}

char *scratch_path(const char *name)
{
    return wt_format("%s/%s", scratch, name);
}

char *scratch_put(const char *name, const char *text)
{
    char *path = scratch_path(name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    return path;
}

void scratch_write(const char *name, const char *text)
{
    free(scratch_put(name, text));
}

char *scratch_text(const char *name)
{
    char *path = scratch_path(name), *text = NULL;
    FILE *file = fopen(path, "r");
    free(path);
    if (file) {
        text = text_of(file);
        fclose(file);
    }
    return text;
}

int scratch_shell(const char *line)
{
    char *command = wt_format("cd '%s' && %s", scratch, line);
    int status = system(command);
    free(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

char *text_of(FILE *stream)
{
    char *text = NULL;
    size_t size = 0;
    if (getdelim(&text, &size, '\0', stream) >= 0)
        return text;
    free(text);
    return wt_strdup("");
}
