/* The strided copy: dense runs by memcpy, fills, tiled transposes, and plain strides for the rest. */
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/layout/layout.h"

#define TASK_BYTES ((int64_t)1 << 18) /* about what one thread takes at a time */
#define TILE 32                       /* rows of a transposed tile */
#define TILE_FLAT 1024                /* the same where columns are few */
#define TILE_COLUMNS 128

/* ---- simplification ---- */

void pw_layout_simplify(struct pw_layout_copy *copy)
{
    int kept = 0;
    for (int d = 0; d < copy->rank; d++) {
        if (copy->dims[d] == 0) {
            copy->rank = 1;
            copy->dims[0] = 0;
            copy->src_stride[0] = copy->dst_stride[0] = 1;
            return;
        }
        if (copy->dims[d] == 1)
            continue;
        int64_t n = copy->dims[d], s = copy->src_stride[d], t = copy->dst_stride[d];
        if (kept > 0 && copy->src_stride[kept - 1] == s * n && copy->dst_stride[kept - 1] == t * n) {
            copy->dims[kept - 1] *= n;
            copy->src_stride[kept - 1] = s;
            copy->dst_stride[kept - 1] = t;
            continue;
        }
        copy->dims[kept] = n;
        copy->src_stride[kept] = s;
        copy->dst_stride[kept] = t;
        kept++;
    }
    if (kept == 0) {
        copy->dims[0] = 1;
        copy->src_stride[0] = copy->dst_stride[0] = 1;
        kept = 1;
    }
    copy->rank = kept;
}

static void move_dim(struct pw_layout_copy *c, int from, int to)
{
    int64_t n = c->dims[from], s = c->src_stride[from], t = c->dst_stride[from];
    for (int d = from; d < to; d++) {
        c->dims[d] = c->dims[d + 1];
        c->src_stride[d] = c->src_stride[d + 1];
        c->dst_stride[d] = c->dst_stride[d + 1];
    }
    c->dims[to] = n;
    c->src_stride[to] = s;
    c->dst_stride[to] = t;
}

bool pw_layout_make_tiled(struct pw_layout_copy *copy)
{
    int inner = copy->rank - 1;
    if (copy->rank < 2 || copy->dst_stride[inner] != 1 || copy->src_stride[inner] == 1 || copy->src_stride[inner] == 0)
        return false;
    for (int d = inner - 1; d >= 0; d--) {
        if (copy->src_stride[d] == 1) {
            move_dim(copy, d, inner - 1);
            return true;
        }
    }
    return false;
}

/* ---- one row, by element size ---- */

typedef struct {
    uint64_t half[2];
} element16;

/* n elements, strides in elements. */
#define DEFINE_ROW(name, type)                                                                                         \
    static void name(int64_t n, const char *src_bytes, int64_t s, char *dst_bytes, int64_t t)                          \
    {                                                                                                                  \
        const type *restrict src = (const type *)(const void *)src_bytes;                                              \
        type *restrict dst = (type *)(void *)dst_bytes;                                                                \
        if (s == 0 && t == 1) {                                                                                        \
            const type value = *src;                                                                                   \
            for (int64_t i = 0; i < n; i++)                                                                            \
                dst[i] = value;                                                                                        \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                                                \
            dst[i * t] = src[i * s];                                                                                   \
    }
DEFINE_ROW(row_1, uint8_t)
DEFINE_ROW(row_2, uint16_t)
DEFINE_ROW(row_4, uint32_t)
DEFINE_ROW(row_8, uint64_t)
DEFINE_ROW(row_16, element16)

#define BLOCK 8

/* A tile of `rows` x `columns`: dense along rows in the source (stride 1), along columns in the result. Blocks go
 * through a small array, columns innermost, so that a line of the result is written whole before the next one. */
#define DEFINE_TILE(name, type)                                                                                        \
    static void name(int64_t rows, int64_t columns, const char *src_bytes, int64_t s, char *dst_bytes, int64_t t)      \
    {                                                                                                                  \
        const type *restrict src = (const type *)(const void *)src_bytes;                                              \
        type *restrict dst = (type *)(void *)dst_bytes;                                                                \
        int64_t full_rows = rows - rows % BLOCK, full_columns = columns - columns % BLOCK;                             \
        for (int64_t r = 0; r < full_rows; r += BLOCK) {                                                               \
            for (int64_t c = 0; c < full_columns; c += BLOCK) {                                                        \
                type block[BLOCK][BLOCK];                                                                              \
                for (int i = 0; i < BLOCK; i++)                                                                        \
                    memcpy(block[i], src + (c + i) * s + r, sizeof block[i]);                                          \
                for (int i = 0; i < BLOCK; i++)                                                                        \
                    for (int k = 0; k < BLOCK; k++)                                                                    \
                        dst[(r + i) * t + c + k] = block[k][i];                                                        \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t r = 0; r < rows; r++)                                                                             \
            for (int64_t c = r < full_rows ? full_columns : 0; c < columns; c++)                                       \
                dst[r * t + c] = src[c * s + r];                                                                       \
    }
DEFINE_TILE(tile_1, uint8_t)
DEFINE_TILE(tile_2, uint16_t)
DEFINE_TILE(tile_4, uint32_t)
DEFINE_TILE(tile_8, uint64_t)
DEFINE_TILE(tile_16, element16)

typedef void row_fn(int64_t n, const char *src, int64_t s, char *dst, int64_t t);
typedef void tile_fn(int64_t rows, int64_t columns, const char *src, int64_t s, char *dst, int64_t t);

static const struct {
    size_t bytes;
    row_fn *row;
    tile_fn *tile;
} movers[] = {
    {1, row_1, tile_1}, {2, row_2, tile_2}, {4, row_4, tile_4}, {8, row_8, tile_8}, {16, row_16, tile_16},
};

/* ---- all rows ---- */

struct job {
    const struct pw_layout_copy *copy;
    int outer_rank; /* dims that a task counts through */
    row_fn *row;
    tile_fn *tile;
    int64_t bytes;
    int64_t height; /* rows of a transposed tile */
    const char *src;
    char *dst;
};

/* Offsets of outer position `index`, which counts through the first outer_rank dims. */
static void locate(const struct job *job, int64_t index, int64_t *coordinates, int64_t *src, int64_t *dst)
{
    const struct pw_layout_copy *c = job->copy;
    *src = c->src_offset;
    *dst = c->dst_offset;
    for (int d = job->outer_rank - 1; d >= 0; d--) {
        coordinates[d] = index % c->dims[d];
        index /= c->dims[d];
        *src += coordinates[d] * c->src_stride[d];
        *dst += coordinates[d] * c->dst_stride[d];
    }
}

static void advance(const struct job *job, int64_t *coordinates, int64_t *src, int64_t *dst)
{
    const struct pw_layout_copy *c = job->copy;
    for (int d = job->outer_rank - 1; d >= 0; d--) {
        *src += c->src_stride[d];
        *dst += c->dst_stride[d];
        if (++coordinates[d] < c->dims[d])
            return;
        *src -= c->dims[d] * c->src_stride[d];
        *dst -= c->dims[d] * c->dst_stride[d];
        coordinates[d] = 0;
    }
}

static void copy_rows(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    const struct pw_layout_copy *c = job->copy;
    int inner = job->outer_rank;
    int64_t n = c->dims[inner], s = c->src_stride[inner], t = c->dst_stride[inner];
    int64_t coordinates[PW_LAYOUT_RANK], src, dst;
    locate(job, begin, coordinates, &src, &dst);
    for (int64_t i = begin; i < end; i++) {
        const char *from = job->src + src * job->bytes;
        char *to = job->dst + dst * job->bytes;
        if (s == 1 && t == 1)
            memcpy(to, from, (size_t)(n * job->bytes));
        else
            job->row(n, from, s, to, t);
        advance(job, coordinates, &src, &dst);
    }
}

/* The last two dims are a matrix, dense along `rows` in the source and along `columns` in the result. */
static void copy_matrices(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    const struct pw_layout_copy *c = job->copy;
    int64_t rows = c->dims[c->rank - 2], columns = c->dims[c->rank - 1];
    int64_t s = c->src_stride[c->rank - 1], t = c->dst_stride[c->rank - 2];
    int64_t bands = (rows + job->height - 1) / job->height;
    for (int64_t i = begin; i < end; i++) {
        int64_t coordinates[PW_LAYOUT_RANK], src, dst;
        locate(job, i / bands, coordinates, &src, &dst);
        int64_t r = i % bands * job->height;
        int64_t height = rows - r < job->height ? rows - r : job->height;
        for (int64_t k = 0; k < columns; k += TILE_COLUMNS) {
            int64_t width = columns - k < TILE_COLUMNS ? columns - k : TILE_COLUMNS;
            job->tile(height, width, job->src + (src + k * s + r) * job->bytes, s,
                      job->dst + (dst + r * t + k) * job->bytes, t);
        }
    }
}

/* A single dense run is cut into pieces, so that all threads copy. */
static void copy_piece(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    const struct pw_layout_copy *c = job->copy;
    memcpy(job->dst + (c->dst_offset + begin) * job->bytes, job->src + (c->src_offset + begin) * job->bytes,
           (size_t)((end - begin) * job->bytes));
}

static int64_t grain_for(int64_t bytes)
{
    return bytes >= TASK_BYTES ? 1 : TASK_BYTES / (bytes > 0 ? bytes : 1);
}

static int64_t product(const struct pw_layout_copy *c, int count)
{
    int64_t n = 1;
    for (int d = 0; d < count; d++)
        n *= c->dims[d];
    return n;
}

void pw_layout_run(const struct pw_layout_copy *copy, size_t element_bytes, const void *src, void *dst)
{
    struct pw_layout_copy c = *copy;
    struct job job = {.copy = &c, .bytes = (int64_t)element_bytes, .src = src, .dst = dst};
    pw_layout_simplify(&c);
    if (c.dims[0] == 0)
        return;
    for (size_t i = 0; i < PW_COUNT_OF(movers); i++) {
        if (movers[i].bytes == element_bytes) {
            job.row = movers[i].row;
            job.tile = movers[i].tile;
        }
    }
    if (c.rank == 1 && c.src_stride[0] == 1 && c.dst_stride[0] == 1) {
        pw_parallel_for(c.dims[0], grain_for(job.bytes), copy_piece, &job);
    } else if (pw_layout_make_tiled(&c)) {
        job.outer_rank = c.rank - 2;
        job.height = c.dims[c.rank - 1] < 16 ? TILE_FLAT : TILE;
        int64_t bands = (c.dims[c.rank - 2] + job.height - 1) / job.height;
        pw_parallel_for(product(&c, job.outer_rank) * bands, grain_for(job.height * c.dims[c.rank - 1] * job.bytes),
                        copy_matrices, &job);
    } else {
        job.outer_rank = c.rank - 1;
        pw_parallel_for(product(&c, job.outer_rank), grain_for(c.dims[c.rank - 1] * job.bytes), copy_rows, &job);
    }
}

/* ---- tensors ---- */

static pw_status move_strings(const struct pw_layout_copy *copy, const struct pw_tensor *src, struct pw_tensor *dst,
                              struct pw_error *err)
{
    struct pw_layout_copy c = *copy;
    struct job job = {.copy = &c};
    int64_t coordinates[PW_LAYOUT_RANK], from, to;
    const struct pw_bytes *texts = src->data;
    pw_layout_simplify(&c);
    if (c.dims[0] == 0)
        return PW_OK;
    job.outer_rank = c.rank;
    locate(&job, 0, coordinates, &from, &to);
    for (int64_t n = product(&c, c.rank); n > 0; n--) {
        pw_status status = pw_tensor_set_string(dst, to, texts[from].data, texts[from].size, err);
        if (status != PW_OK)
            return status;
        advance(&job, coordinates, &from, &to);
    }
    return PW_OK;
}

pw_status pw_layout_move(const struct pw_layout_copy *copy, const struct pw_tensor *src, struct pw_tensor *dst,
                         struct pw_error *err)
{
    if (src->dtype == PW_DTYPE_STRING)
        return move_strings(copy, src, dst, err);
    pw_layout_run(copy, pw_dtype_bytes(src->dtype), src->data, dst->data);
    return PW_OK;
}
