/* The vision room's own header: selection of boxes, decoding of images. Pure. */
#ifndef PW_OPS_VISION_H
#define PW_OPS_VISION_H

#include "op/op.h"

pw_status pw_nms_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_image_eval(struct pw_eval *ev, struct pw_error *err);

/* vision_image.c: an image decoded to height x width x 3 bytes in RGB order; owned. */
struct pw_image {
    int64_t height, width;
    uint8_t *rgb;
};
void pw_image_clear(struct pw_image *image);
/* PW_ERR_UNSUPPORTED names a known format that is not decoded here; damaged or unknown streams give an
 * empty image and PW_OK, as the operator asks. */
pw_status pw_image_decode(const uint8_t *bytes, size_t size, struct pw_image *out, struct pw_error *err);

/* vision_png.c: the stream begins with PNG's signature; as above. */
pw_status pw_image_decode_png(const uint8_t *bytes, size_t size, struct pw_image *out, struct pw_error *err);
/* vision_inflate.c: a zlib stream that becomes exactly out_size bytes, checksum included. */
bool pw_image_inflate(const uint8_t *bytes, size_t size, uint8_t *out, size_t out_size);

#endif
