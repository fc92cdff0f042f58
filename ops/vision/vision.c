#include "ops/vision/vision.h"

#include <string.h>

static int64_t extent(const struct pw_call *call, int input, int axis)
{
    int64_t value = 0;
    const struct pw_info *info = call->in[input];
    return axis < info->rank && pw_dims_value(call->dims, info->dims[axis], &value) ? value : -1;
}

static pw_status infer_nms(struct pw_call *call, struct pw_error *err)
{
    for (int i = 0; i < 2; i++) {
        if (call->in[i]->rank >= 0 && call->in[i]->rank != 3)
            return pw_call_error(call, err, "'%s' has rank %d, expected 3", call->op->inputs[i].name,
                                 call->in[i]->rank);
    }
    int64_t corners = extent(call, 0, 2), boxes = extent(call, 0, 1), scores = extent(call, 1, 2);
    if (corners >= 0 && corners != 4)
        return pw_call_error(call, err, "a box has %lld numbers, expected 4", (long long)corners);
    if (boxes >= 0 && scores >= 0 && boxes != scores)
        return pw_call_error(call, err, "%lld boxes, but scores for %lld", (long long)boxes, (long long)scores);
    if (extent(call, 0, 0) >= 0 && extent(call, 1, 0) >= 0 && extent(call, 0, 0) != extent(call, 1, 0))
        return pw_call_error(call, err, "boxes of %lld images, but scores of %lld", (long long)extent(call, 0, 0),
                             (long long)extent(call, 1, 0));
    int64_t format = pw_call_int(call, "center_point_box");
    if (format != 0 && format != 1)
        return pw_call_error(call, err, "center_point_box is %lld, expected 0 or 1", (long long)format);
    pw_dim dims[2] = {pw_dims_fresh(call->dims, "selected"), 3};
    pw_call_output(call, 0, PW_DTYPE_INT64, 2, dims);
    return PW_OK;
}

static pw_status infer_image(struct pw_call *call, struct pw_error *err)
{
    const char *format = pw_call_string(call, "pixel_format");
    bool gray = strcmp(format, "Grayscale") == 0;
    if (!gray && strcmp(format, "RGB") != 0 && strcmp(format, "BGR") != 0)
        return pw_call_error(call, err, "pixel_format '%.32s', expected RGB, BGR or Grayscale", format);
    if (call->in[0]->rank >= 0 && call->in[0]->rank != 1)
        return pw_call_error(call, err, "encoded_stream has rank %d, expected 1", call->in[0]->rank);
    if (call->in[0]->dtype != PW_DTYPE_UNDEFINED && call->in[0]->dtype != PW_DTYPE_UINT8)
        return pw_call_error(call, err, "encoded_stream is %s, expected uint8", pw_dtype_name(call->in[0]->dtype));
    /* Also the channels are the stream's: a stream that cannot be decoded gives an empty matrix. */
    pw_dim dims[3] = {pw_dims_fresh(call->dims, "height"), pw_dims_fresh(call->dims, "width"),
                      pw_dims_fresh(call->dims, "channels")};
    pw_call_output(call, 0, PW_DTYPE_UINT8, 3, dims);
    return PW_OK;
}

/* ---- for the kernel ---- */

/* Boxes that a class may keep; false when the limit is not known. */
static bool most_of_class(const struct pw_call *call, int64_t *most)
{
    const int64_t *limit = NULL;
    size_t count = 0;
    bool known = false;

    *most = 0;
    if (!pw_call_input(call, 2))
        return true;
    if (pw_call_content(call, 2, &limit, &count, &known, NULL) != PW_OK || !known)
        return false;
    if (count > 0 && limit[0] > 0)
        *most = limit[0];
    return true;
}

static pw_dim most_boxes(const struct pw_call *call)
{
    const struct pw_info *scores = call->in[1];
    int64_t boxes, most;
    pw_dim each;

    if (scores->rank != 3)
        return PW_DIM_UNKNOWN;
    each = scores->dims[2];
    if (most_of_class(call, &most) && pw_dims_value(call->dims, each, &boxes) && most < boxes)
        each = most;
    return pw_dims_mul(call->dims, pw_dims_mul(call->dims, scores->dims[0], scores->dims[1]), each);
}

static double scalar(const struct pw_call *call, int input)
{
    const struct pw_tensor *t = pw_call_input(call, input) ? call->in[input]->constant : NULL;

    return t != NULL && t->count > 0 ? pw_tensor_get(t, 0) : 0;
}

static pw_status bind_nms(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    int64_t images = extent(call, 1, 0), classes = extent(call, 1, 1), boxes = extent(call, 1, 2), most = 0, units;
    pw_status status;

    for (int i = 2; i < 5; i++) {
        if (pw_call_input(call, i) && call->in[i]->constant == NULL)
            return pw_error_set(err, PW_ERR_UNSUPPORTED, "'%s' is known only when the graph runs",
                                call->op->inputs[i].name);
    }
    if (images < 0 || classes < 0 || boxes < 0 || !most_of_class(call, &most) ||
        __builtin_mul_overflow(images, classes, &units))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shape of the scores is known only when the graph runs");
    status = pw_bind_int(b, "units", units, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "classes", classes > 0 ? classes : 1, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "most", most < boxes ? most : boxes, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "has_least", pw_call_input(call, 4), err);
    if (status == PW_OK)
        status = pw_bind_float(b, "least", scalar(call, 4), err);
    if (status == PW_OK)
        status = pw_bind_float(b, "threshold", scalar(call, 3), err);
    return status;
}

static void accuracy_exact(const struct pw_call *call, struct pw_accuracy *a)
{
    (void)call;
    *a = (struct pw_accuracy){.exact = true,
                              .length = 1,
                              .amplification = 1,
                              .sensitivity = PW_SENSITIVITY_MEDIUM,
                              .reason = "an overlap near the threshold decides about a box",
                              .why = "indices"};
}

static void fill_nms(const struct pw_call *call, int input, struct pw_fill *fill)
{
    (void)call;
    if (input == 0 || input == 1) {
        fill->low = 0;
        fill->high = 1;
    }
}

static const struct pw_attr_def nms_attrs[] = {{.name = "center_point_box", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def image_attrs[] = {{.name = "pixel_format", .type = PW_ATTR_STRING, .s = "RGB"}, {0}};
static const struct pw_formal nms_in[] = {{"boxes", "T", 0},
                                          {"scores", "T", 0},
                                          {"max_output_boxes_per_class", "I", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
                                          {"iou_threshold", "T", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
                                          {"score_threshold", "T", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
                                          {0}};
static const struct pw_formal nms_out[] = {{"selected_indices", "I", 0}, {0}};
static const struct pw_formal image_in[] = {{"encoded_stream", "T1", 0}, {0}};
static const struct pw_formal image_out[] = {{"image", "T2", 0}, {0}};

#define NMS(version)                                                                                                   \
    {                                                                                                                  \
        .domain = "", .name = "NonMaxSuppression", .since = version, .category = PW_CATEGORY_OTHER,                    \
        .attrs = nms_attrs, .inputs = nms_in, .outputs = nms_out, .infer = infer_nms, .most = most_boxes,              \
        .accuracy = accuracy_exact, .golden = pw_nms_eval, .fill = fill_nms, .bind = bind_nms                          \
    }

const struct pw_op pw_vision_ops[] = {
    NMS(10),
    NMS(11),
    {.domain = "",
     .name = "ImageDecoder",
     .since = 20,
     .category = PW_CATEGORY_OTHER,
     .attrs = image_attrs,
     .inputs = image_in,
     .outputs = image_out,
     .host_only = "decodes a file format",
     .infer = infer_image,
     .accuracy = accuracy_exact,
     .golden = pw_image_eval},
    {0},
};
