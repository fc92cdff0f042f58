/*
 * NonMaxSuppression: which boxes of each class remain, best first.
 * Algorithm: a work-item takes a class of an image. It lists the boxes whose score passes, heap-sorts them by
 * falling score (equal scores by index), and keeps each one that overlaps none kept before by more than the threshold.
 * What it keeps stays in its own stretch of `kept`; then one work-item turns the counts into places and the triples
 * are written. Corners may come in any order, so boxes are put in order when they are read.
 */
#ifdef cl_khr_fp64
typedef double real_t;
#else
typedef float real_t;
#endif

typedef struct {
    real_t low0, low1, high0, high1;
} box_t;

static box_t read_box(__global const float *v, int centre)
{
    real_t a0 = v[0], a1 = v[1], b0 = v[2], b1 = v[3];
    box_t box;

    if (centre) {
        real_t w = b0 / 2, h = b1 / 2;
        b0 = a0 + w;
        b1 = a1 + h;
        a0 -= w;
        a1 -= h;
    }
    box.low0 = a0 < b0 ? a0 : b0;
    box.high0 = a0 < b0 ? b0 : a0;
    box.low1 = a1 < b1 ? a1 : b1;
    box.high1 = a1 < b1 ? b1 : a1;
    return box;
}

static int overlaps(box_t a, box_t b, real_t threshold)
{
    real_t low0 = a.low0 > b.low0 ? a.low0 : b.low0, high0 = a.high0 < b.high0 ? a.high0 : b.high0;
    real_t low1 = a.low1 > b.low1 ? a.low1 : b.low1, high1 = a.high1 < b.high1 ? a.high1 : b.high1;
    real_t area_a = (a.high0 - a.low0) * (a.high1 - a.low1), area_b = (b.high0 - b.low0) * (b.high1 - b.low1);
    real_t shared, whole;

    if (!(high0 > low0) || !(high1 > low1))
        return 0;
    shared = (high0 - low0) * (high1 - low1);
    whole = area_a + area_b - shared;
    return area_a > 0 && area_b > 0 && whole > 0 && shared / whole > threshold;
}

/* Does box i come after box j? */
static int after(__global const float *scores, int i, int j)
{
    float a = scores[i], b = scores[j];

    return a != b ? a < b : i > j;
}

static void sift(__global const float *scores, __global int *list, int n, int at)
{
    int moved = list[at];

    for (int child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && after(scores, list[child + 1], list[child]))
            child++;
        if (!after(scores, list[child], moved))
            break;
        list[at] = list[child];
        at = child;
    }
    list[at] = moved;
}

/* The heap's root comes last of all: moving it to the end sorts best first. */
static void sort_list(__global const float *scores, __global int *list, int n)
{
    for (int i = n / 2 - 1; i >= 0; i--)
        sift(scores, list, n, i);
    for (int left = n - 1; left > 0; left--) {
        int last = list[0];
        list[0] = list[left];
        list[left] = last;
        sift(scores, list, left, 0);
    }
}

__kernel void select_boxes(__global const float *boxes, __global const float *scores, __global int *list,
                           __global int *kept, __global int *counts, const int units, const int classes,
                           const int count, const int most, const int centre, const int has_least,
                           const float least, const float threshold)
{
    int unit = (int)get_global_id(0), n = 0, have = 0;
    __global const float *corner = boxes + (long)(unit / classes) * count * 4;
    __global const float *score = scores + (long)unit * count;

    if (unit >= units)
        return;
    list += (long)unit * count;
    kept += (long)unit * most;
    for (int i = 0; i < count; i++) {
        if (has_least ? score[i] > least : score[i] == score[i])
            list[n++] = i;
    }
    sort_list(score, list, n);
    for (int i = 0; i < n && have < most; i++) {
        box_t box = read_box(corner + (long)list[i] * 4, centre);
        int k = 0;
        while (k < have && !overlaps(box, read_box(corner + (long)kept[k] * 4, centre), threshold))
            k++;
        if (k == have)
            kept[have++] = list[i];
    }
    counts[unit] = have;
}

__kernel void place_boxes(__global int *counts, __global int *places, __global int *found, const int units)
{
    int total = 0;

    for (int u = 0; u < units; u++) {
        places[u] = total;
        total += counts[u];
    }
    *found = total;
}

__kernel void write_boxes(__global const int *kept, __global const int *counts, __global const int *places,
                          __global long *out0, const int units, const int classes, const int most)
{
    int unit = (int)get_global_id(0);

    if (unit >= units)
        return;
    out0 += (long)places[unit] * 3;
    for (int k = 0; k < counts[unit]; k++) {
        out0[3 * k] = unit / classes;
        out0[3 * k + 1] = unit % classes;
        out0[3 * k + 2] = kept[(long)unit * most + k];
    }
}
