#include "record.h"

#include <cairo.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/outfile.h"

struct recorder {
    char *path;
    bool video;
    pid_t child; /* ffmpeg; 0 before the first picture */
    int pipe;
    struct canvas picture; /* of the video's size; pixels NULL before the first */
    double owed; /* pictures not yet written */
    int written;
};

/* ---- PNG ---- */

static cairo_status_t put(void *closure, const unsigned char *data, unsigned int length)
{
    return fwrite(data, 1, length, closure) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

enum wt_code canvas_save_png(const struct canvas *canvas, const char *path, struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, path, err));
    cairo_surface_t *surface = cairo_image_surface_create_for_data((void *)canvas->pixels, CAIRO_FORMAT_RGB24,
                                                                   canvas->width, canvas->height, 4 * canvas->width);
    cairo_status_t status = cairo_surface_write_to_png_stream(surface, put, out.stream);
    cairo_surface_destroy(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        return wt_outfile_commit(&out, err);
    wt_outfile_discard(&out);
    return wt_fail_at(err, path, 0, "the picture cannot be written (%s)", cairo_status_to_string(status));
}

/* ---- ffmpeg ---- */

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && !strcmp(text + length - tail, end);
}

static bool have_ffmpeg(void)
{
    const char *path = getenv("PATH");
    char *folders = wt_strdup(path ? path : ""), *rest = folders, *folder;
    bool found = false;
    while (!found && (folder = strsep(&rest, ":"))) {
        char *name = wt_format("%s/ffmpeg", folder);
        found = access(name, X_OK) == 0;
        free(name);
    }
    free(folders);
    return found;
}

static void become_ffmpeg(const struct recorder *recorder, int input)
{
    static const char gif_filter[] = "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=none";
    char size[32], rate[16];
    snprintf(size, sizeof size, "%dx%d", recorder->picture.width, recorder->picture.height);
    snprintf(rate, sizeof rate, "%d", RECORD_RATE);
    dup2(input, STDIN_FILENO);
    if (ends_in(recorder->path, ".gif"))
        execlp("ffmpeg", "ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "bgr0", "-s", size, "-r", rate,
               "-i", "-", "-vf", gif_filter, recorder->path, (char *)NULL);
    else
        execlp("ffmpeg", "ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "bgr0", "-s", size, "-r", rate,
               "-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", recorder->path, (char *)NULL);
    _exit(127);
}

static enum wt_code start_ffmpeg(struct recorder *recorder, struct wt_error *err)
{
    int ends[2];
    if (pipe(ends) != 0)
        return wt_fail_at(err, recorder->path, 0, "no pipe to ffmpeg (%s)", strerror(errno));
    recorder->child = fork();
    if (recorder->child == 0) {
        close(ends[1]);
        become_ffmpeg(recorder, ends[0]);
    }
    close(ends[0]);
    recorder->pipe = ends[1];
    signal(SIGPIPE, SIG_IGN);
    return recorder->child > 0 ? WT_OK : wt_fail_at(err, recorder->path, 0, "ffmpeg cannot be started (%s)", strerror(errno));
}

static enum wt_code write_pipe(struct recorder *recorder, struct wt_error *err)
{
    const char *data = (const void *)recorder->picture.pixels;
    size_t left = 4 * (size_t)recorder->picture.width * (size_t)recorder->picture.height;
    while (left > 0) {
        ssize_t done = write(recorder->pipe, data, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return wt_fail_at(err, recorder->path, 0, "ffmpeg stopped; its message is above");
        data += done;
        left -= (size_t)done;
    }
    return WT_OK;
}

static enum wt_code write_numbered(struct recorder *recorder, struct wt_error *err)
{
    char *name = wt_format("%.*s-%05d.png", (int)(strlen(recorder->path) - 4), recorder->path, recorder->written + 1);
    enum wt_code code = canvas_save_png(&recorder->picture, name, err);
    free(name);
    return code;
}

enum wt_code recorder_new(const char *path, struct recorder **out, struct wt_error *err)
{
    *out = NULL;
    if (!ends_in(path, ".mp4") && !ends_in(path, ".gif"))
        return wt_fail(err, WT_BAD_INPUT, "%s: a video's name ends in .mp4 or .gif", path);
    *out = wt_alloc(1, sizeof **out);
    **out = (struct recorder){.path = wt_strdup(path), .video = have_ffmpeg(), .owed = 1};
    return WT_OK;
}

bool recorder_makes_video(const struct recorder *recorder)
{
    return recorder->video;
}

enum wt_code recorder_add(struct recorder *recorder, const struct canvas *canvas, double seconds, struct wt_error *err)
{
    bool first = !recorder->picture.pixels;
    if (first)
        recorder->picture = canvas_new(canvas->width, canvas->height);
    if (first && recorder->video)
        WT_TRY(start_ffmpeg(recorder, err));
    canvas_copy(&recorder->picture, canvas, 0, 0);
    for (recorder->owed += first ? 0 : seconds * RECORD_RATE; recorder->owed >= 0.999; recorder->owed--) {
        WT_TRY(recorder->video ? write_pipe(recorder, err) : write_numbered(recorder, err));
        recorder->written++;
    }
    return WT_OK;
}

enum wt_code recorder_finish(struct recorder *recorder, int *pictures, struct wt_error *err)
{
    int status = 0;
    enum wt_code code = WT_OK;
    if (!recorder)
        return WT_OK;
    if (recorder->child > 0) {
        close(recorder->pipe);
        waitpid(recorder->child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            code = wt_fail_at(err, recorder->path, 0, "ffmpeg failed; its message is above");
    }
    if (pictures)
        *pictures = recorder->written;
    canvas_free(&recorder->picture);
    free(recorder->path);
    free(recorder);
    return code;
}
