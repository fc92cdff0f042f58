/* Columns: the input samples under each window, as a matrix [channels * taps, pixels]. */
#include <string.h>

#include "base/parallel.h"
#include "ops/conv/conv.h"

struct columns_job {
    const struct pw_conv_geometry *g;
    const char *x;
    size_t size;
    int64_t from, to;
    char *dst;
};

static void copy_strided(char *dst, const char *src, int64_t count, int64_t stride, size_t size)
{
    if (stride == 1) {
        memcpy(dst, src, (size_t)count * size);
    } else if (size == sizeof(uint32_t)) {
        for (int64_t i = 0; i < count; i++)
            memcpy(dst + i * 4, src + i * stride * 4, 4);
    } else {
        for (int64_t i = 0; i < count; i++)
            memcpy(dst + (size_t)i * size, src + (size_t)(i * stride) * size, size);
    }
}

/* Output positions of one axis whose sample lies inside the input: [*lo, *hi). shift = tap * dilation - pad. */
static void inside(int64_t in, int64_t out, int64_t stride, int64_t shift, int64_t *lo, int64_t *hi)
{
    int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    int64_t end = in <= shift ? 0 : (in - shift + stride - 1) / stride;
    *lo = first < out ? first : out;
    *hi = end < out ? end : out;
    if (*hi < *lo)
        *hi = *lo;
}

/* The part of a row of pixels that starts at output column `column` and has `count` pixels. */
static void fill_segment(const struct columns_job *job, const char *row, int64_t shift, int64_t column, int64_t count,
                         char *dst)
{
    const struct pw_window_numbers *w = &job->g->window;
    int last = w->axes - 1;
    int64_t lo, hi;
    inside(w->in[last], w->out[last], w->stride[last], shift, &lo, &hi);
    lo = lo < column ? column : lo > column + count ? column + count : lo;
    hi = hi < lo ? lo : hi > column + count ? column + count : hi;
    memset(dst, 0, (size_t)(lo - column) * job->size);
    if (hi > lo)
        copy_strided(dst + (size_t)(lo - column) * job->size, row + (lo * w->stride[last] + shift) * (int64_t)job->size,
                     hi - lo, w->stride[last], job->size);
    memset(dst + (size_t)(hi - column) * job->size, 0, (size_t)(column + count - hi) * job->size);
}

static void fill_row(const struct columns_job *job, int64_t row)
{
    const struct pw_window_numbers *w = &job->g->window;
    int last = w->axes - 1;
    int64_t shift[PW_WINDOW_AXES];
    int64_t rest = row % w->taps;
    for (int a = last; a >= 0; a--) {
        shift[a] = rest % w->kernel[a] * w->dilation[a] - w->pad_begin[a];
        rest /= w->kernel[a];
    }
    const char *plane = job->x + row / w->taps * w->in_size * (int64_t)job->size;
    char *dst = job->dst + row * (job->to - job->from) * (int64_t)job->size;
    for (int64_t p = job->from; p < job->to;) {
        int64_t column = p % w->out[last], line = p / w->out[last], offset = 0, pitch = w->in[last];
        int64_t count = w->out[last] - column;
        count = count < job->to - p ? count : job->to - p;
        bool within = true;
        for (int a = last - 1; a >= 0; a--) {
            int64_t at = line % w->out[a] * w->stride[a] + shift[a];
            line /= w->out[a];
            within = within && at >= 0 && at < w->in[a];
            offset += at * pitch;
            pitch *= w->in[a];
        }
        if (within)
            fill_segment(job, plane + offset * (int64_t)job->size, shift[last], column, count, dst);
        else
            memset(dst, 0, (size_t)count * job->size);
        dst += (size_t)count * job->size;
        p += count;
    }
}

static void columns_body(void *user, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row++)
        fill_row(user, row);
}

void pw_conv_columns(const struct pw_conv_geometry *g, const void *x, size_t size, int64_t from, int64_t to, void *dst)
{
    struct columns_job job = {g, x, size, from, to, dst};
    int64_t rows = g->group_channels * g->window.taps;
    int64_t grain = 16384 / (to - from + 1) + 1;
    pw_parallel_for(rows, grain, columns_body, &job);
}

int64_t pw_conv_column_block(int64_t rows, int64_t pixels, size_t element_bytes)
{
    int64_t limit = (int64_t)((size_t)8 << 20) / (int64_t)element_bytes / (rows > 0 ? rows : 1);
    limit = limit < 64 ? 64 : limit;
    return pixels < limit ? pixels : limit;
}
