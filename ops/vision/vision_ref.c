/* References of NonMaxSuppression and ImageDecoder. */
#include <stdlib.h>
#include <string.h>

#include "ops/vision/vision.h"

struct box {
    double low[2], high[2];
};

struct candidate {
    double score;
    int64_t index;
};

/* Highest score first; among equal scores the lower index. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static struct box read_box(const struct pw_tensor *boxes, int64_t at, bool centre)
{
    double v[4];
    struct box box;
    for (int i = 0; i < 4; i++)
        v[i] = pw_tensor_get(boxes, at * 4 + i);
    for (int i = 0; i < 2; i++) {
        double a = centre ? v[i] - v[2 + i] / 2 : v[i], b = centre ? v[i] + v[2 + i] / 2 : v[2 + i];
        box.low[i] = a < b ? a : b; /* any diagonal pair of corners */
        box.high[i] = a < b ? b : a;
    }
    return box;
}

static double area(const struct box *box)
{
    return (box->high[0] - box->low[0]) * (box->high[1] - box->low[1]);
}

/* Is the intersection more than `threshold` of the union? Boxes without area overlap nothing. */
static bool overlaps(const struct box *a, const struct box *b, double threshold)
{
    struct box common;
    for (int i = 0; i < 2; i++) {
        common.low[i] = a->low[i] > b->low[i] ? a->low[i] : b->low[i];
        common.high[i] = a->high[i] < b->high[i] ? a->high[i] : b->high[i];
        if (!(common.high[i] > common.low[i]))
            return false;
    }
    double shared = area(&common), whole = area(a) + area(b) - shared;
    return area(a) > 0 && area(b) > 0 && whole > 0 && shared / whole > threshold;
}

struct nms {
    const struct pw_tensor *boxes, *scores;
    bool centre, has_score_threshold;
    int64_t most;
    double iou, score;
    struct candidate *candidates; /* room for the boxes of a class */
    struct box *kept;
    int64_t *selected; /* triples */
    size_t count, cap; /* in triples */
};

static pw_status select_class(struct nms *n, int64_t image, int64_t class, struct pw_error *err)
{
    int64_t boxes = n->boxes->dims[1], classes = n->scores->dims[1], found = 0, kept = 0;
    for (int64_t i = 0; i < boxes; i++) {
        double score = pw_tensor_get(n->scores, (image * classes + class) * boxes + i);
        if (n->has_score_threshold ? score > n->score : score == score)
            n->candidates[found++] = (struct candidate){score, i};
    }
    qsort(n->candidates, (size_t)found, sizeof *n->candidates, compare_candidates);
    for (int64_t i = 0; i < found && kept < n->most; i++) {
        struct box box = read_box(n->boxes, image * boxes + n->candidates[i].index, n->centre);
        bool suppressed = false;
        for (int64_t k = 0; k < kept && !suppressed; k++)
            suppressed = overlaps(&box, &n->kept[k], n->iou);
        if (suppressed)
            continue;
        n->kept[kept++] = box;
        size_t cap = n->cap * 3;
        pw_status status = PW_GROW(n->selected, cap, (n->count + 1) * 3, err);
        if (status != PW_OK)
            return status;
        n->cap = cap / 3;
        const int64_t triple[3] = {image, class, n->candidates[i].index};
        memcpy(n->selected + n->count++ * 3, triple, sizeof triple);
    }
    return PW_OK;
}

/* A scalar input, or the value that stands for it. */
static double scalar(const struct pw_eval *ev, int input, double otherwise)
{
    const struct pw_tensor *t = pw_eval_in(ev, input);
    return t && t->count > 0 ? pw_tensor_get(t, 0) : otherwise;
}

pw_status pw_nms_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct nms n = {.boxes = pw_eval_in(ev, 0), .scores = pw_eval_in(ev, 1)};
    struct pw_tensor *y = NULL;
    int64_t boxes = n.boxes->rank == 3 ? n.boxes->dims[1] : 0;
    if (n.boxes->rank != 3 || n.scores->rank != 3 || n.boxes->dims[2] != 4 || n.scores->dims[2] != boxes ||
        n.scores->dims[0] != n.boxes->dims[0])
        return pw_call_error(ev->call, err, "the shapes of boxes and scores do not fit");
    const struct pw_tensor *most = pw_eval_in(ev, 2);
    n.centre = pw_call_int(ev->call, "center_point_box") == 1;
    n.most = most && most->count > 0 ? pw_tensor_get_int(most, 0) : 0;
    n.iou = scalar(ev, 3, 0);
    n.has_score_threshold = pw_eval_in(ev, 4) != NULL;
    n.score = scalar(ev, 4, 0);
    n.candidates = pw_calloc((size_t)boxes, sizeof *n.candidates);
    n.kept = pw_calloc((size_t)boxes, sizeof *n.kept);
    pw_status status = n.candidates && n.kept ? PW_OK : pw_error_memory(err, (size_t)boxes * sizeof *n.kept);
    for (int64_t image = 0; status == PW_OK && image < n.boxes->dims[0]; image++) {
        for (int64_t class = 0; status == PW_OK && class < n.scores->dims[1]; class ++)
            status = select_class(&n, image, class, err);
    }
    const int64_t dims[2] = {(int64_t)n.count, 3};
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, PW_DTYPE_INT64, 2, dims, &y, err);
    if (status == PW_OK && n.count > 0)
        memcpy(y->data, n.selected, n.count * 3 * sizeof(int64_t));
    pw_free(n.candidates);
    pw_free(n.kept);
    pw_free(n.selected);
    return status;
}

/* ---- ImageDecoder ---- */

pw_status pw_image_eval(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    const char *format = pw_call_string(ev->call, "pixel_format");
    bool gray = strcmp(format, "Grayscale") == 0, reversed = strcmp(format, "BGR") == 0;
    struct pw_image image = {0};
    struct pw_tensor *y = NULL;
    if (x->dtype != PW_DTYPE_UINT8)
        return pw_call_error(ev->call, err, "encoded_stream is %s, expected uint8", pw_dtype_name(x->dtype));
    pw_status status = pw_image_decode(x->data, (size_t)x->count, &image, err);
    bool empty = image.height == 0;
    const int64_t dims[3] = {image.height, image.width, empty ? 0 : gray ? 1 : 3};
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, PW_DTYPE_UINT8, 3, dims, &y, err);
    for (int64_t i = 0; status == PW_OK && i < image.height * image.width; i++) {
        const uint8_t *rgb = image.rgb + i * 3;
        uint8_t *to = (uint8_t *)y->data + i * dims[2];
        if (gray) { /* ITU-R BT.601 luma in 16 bits, rounded to nearest */
            to[0] = (uint8_t)((19595U * rgb[0] + 38470U * rgb[1] + 7471U * rgb[2] + 32768U) >> 16);
            continue;
        }
        for (int c = 0; c < 3; c++)
            to[c] = rgb[reversed ? 2 - c : c];
    }
    pw_image_clear(&image);
    return status;
}
