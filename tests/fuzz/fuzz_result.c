/* Do any bytes at all make the result reader misbehave? Checksums are put right first, or nothing would get past
 * them; what is accepted must survive being measured and written again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/metrics.h"
#include "observe/result.h"
#include "observe/result_bytes.h"

enum { HEAD = 12, CHUNK_HEAD = 12, CRC = 4, MOST = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_checksum(uint8_t *at, uint32_t crc)
{
    for (int i = 0; i < CRC; i++)
        at[i] = (uint8_t)(crc >> (8 * i));
}

static void repair(uint8_t *data, size_t size)
{
    size_t at = HEAD;
    while (at + CHUNK_HEAD + CRC <= size) {
        struct wt_cursor cursor = {data + at + 4, 8, 0, false};
        uint64_t length = wt_get_uint(&cursor, 8);
        if (length > size - at - CHUNK_HEAD - CRC)
            return;
        size_t end = at + CHUNK_HEAD + (size_t)length;
        put_checksum(data + end, wt_crc32(0, data + at, end - at));
        at = end + CRC;
    }
}

static void use(struct wt_timeline *timeline)
{
    if (timeline)
        wt_metrics_free(wt_metrics_of_timeline(timeline));
}

static void check(struct wt_result *result)
{
    char *text = NULL;
    size_t size = 0;
    struct wt_error err = {0};
    struct wt_export what = {.simulated = result->simulated, .measured = result->measured};
    use(result->simulated);
    use(result->measured);
    FILE *stream = open_memstream(&text, &size);
    if (!stream || wt_save_exporter.write(&what, stream, &err) != WT_OK || fclose(stream))
        abort();
    struct wt_result again;
    FILE *copy = fmemopen(text, size, "rb");
    if (!copy || wt_result_read(copy, "again", &again, &err) != WT_OK)
        abort();
    fclose(copy);
    wt_result_clear(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > MOST)
        return 0;
    uint8_t *repaired = malloc(size);
    struct wt_result result;
    struct wt_error err = {0};
    if (!repaired)
        return 0;
    memcpy(repaired, data, size);
    repair(repaired, size);
    FILE *stream = fmemopen(repaired, size, "rb");
    if (!stream)
        abort();
    enum wt_code code = wt_result_read(stream, "fuzz", &result, &err);
    if ((code == WT_OK) == (err.text[0] != '\0'))
        abort();
    if (code == WT_OK)
        check(&result);
    wt_result_clear(&result);
    fclose(stream);
    free(repaired);
    return 0;
}
