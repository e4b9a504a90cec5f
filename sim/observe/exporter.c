#include "observe/exporter.h"

#include "core/outfile.h"

enum wt_code wt_export_write(const struct wt_exporter *exporter, const struct wt_export *what, const char *path,
                             struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, path, err));
    enum wt_code code = exporter->write(what, out.stream, err);
    if (code == WT_OK)
        return wt_outfile_commit(&out, err);
    wt_outfile_discard(&out);
    return code;
}

struct wt_timeline *wt_export_main(const struct wt_export *what)
{
    return what->simulated ? what->simulated : what->measured;
}

#define DECLARE(name, argument, summary) extern const struct wt_exporter wt_##name##_exporter;
WT_EXPORTER_LIST(DECLARE)

#define ENTRY(name, argument, summary) [WT_EXPORTER_##name] = &wt_##name##_exporter,
const struct wt_exporter *const wt_exporters[WT_EXPORTERS] = {WT_EXPORTER_LIST(ENTRY)};
