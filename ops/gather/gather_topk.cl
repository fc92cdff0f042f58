/*
 * TopK: a work-item takes rows; each row keeps a heap of its k best, worst at the root, in the outputs themselves.
 * n log k steps, no private arrays. At the end the heap is sorted in place: the root, the worst, goes to the end.
 * Equal values: the lower index is better. NaN counts as the largest.
 */
#define VALUE PW_COMPUTE(in0)

typedef struct {
    __global PW_TYPE(out0) *values;
    __global long *indices;
    long base;
    int stride, largest;
} heap_t;

static int less(VALUE a, VALUE b)
{
    return a < b || (b != b && a == a);
}

/* Is (a, i) worse than (b, j)? */
static int worse(int largest, VALUE a, long i, VALUE b, long j)
{
    if (less(a, b))
        return largest;
    if (less(b, a))
        return !largest;
    return i > j;
}

static VALUE value_at(const heap_t *h, int i)
{
    __global PW_TYPE(out0) *out0 = h->values;
    return PW_LOAD(out0, h->base + (long)i * h->stride);
}

static long index_at(const heap_t *h, int i)
{
    return h->indices[h->base + (long)i * h->stride];
}

static void put(const heap_t *h, int i, VALUE value, long index)
{
    __global PW_TYPE(out0) *out0 = h->values;
    PW_STORE(out0, h->base + (long)i * h->stride, value);
    h->indices[h->base + (long)i * h->stride] = index;
}

/* Puts (value, index) where it belongs below i. */
static void sift(const heap_t *h, int n, int i, VALUE value, long index)
{
    for (int child = 2 * i + 1; child < n; child = 2 * i + 1) {
        VALUE v = value_at(h, child);
        long at = index_at(h, child);
        if (child + 1 < n) {
            VALUE w = value_at(h, child + 1);
            long b = index_at(h, child + 1);
            if (worse(h->largest, w, b, v, at)) {
                child++;
                v = w;
                at = b;
            }
        }
        if (!worse(h->largest, v, at, value, index))
            break;
        put(h, i, v, at);
        i = child;
    }
    put(h, i, value, index);
}

__kernel void topk(__global const PW_TYPE(in0) *in0, __global PW_TYPE(out0) *out0, __global long *out1, int rows,
                   int size, int inner, int k, int largest)
{
    for (int row = (int)get_global_id(0); row < rows; row += (int)get_global_size(0)) {
        long from = (long)(row / inner) * size * inner + row % inner;
        heap_t h = {out0, out1, (long)(row / inner) * k * inner + row % inner, inner, largest};
        for (int i = 0; i < k; i++)
            put(&h, i, PW_LOAD(in0, from + (long)i * inner), i);
        for (int i = k / 2 - 1; i >= 0; i--)
            sift(&h, k, i, value_at(&h, i), index_at(&h, i));
        VALUE root = value_at(&h, 0);
        long root_index = index_at(&h, 0);
        for (int i = k; i < size; i++) {
            VALUE value = PW_LOAD(in0, from + (long)i * inner);
            if (!worse(largest, root, root_index, value, i))
                continue;
            sift(&h, k, 0, value, i);
            root = value_at(&h, 0);
            root_index = index_at(&h, 0);
        }
        for (int left = k - 1; left > 0; left--) {
            VALUE last = value_at(&h, left);
            long last_index = index_at(&h, left);
            put(&h, left, value_at(&h, 0), index_at(&h, 0));
            sift(&h, left, 0, last, last_index);
        }
    }
}
