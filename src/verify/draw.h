/*
 * Drawing the content of one input of a case: the distributions of DESIGN.md. Pure functions of their arguments.
 * Used by draw.c; tests may draw by themselves.
 */
#ifndef PW_VERIFY_DRAW_H
#define PW_VERIFY_DRAW_H

#include "op/op.h"
#include "verify/verify.h"

#define PW_DRAW_MIXTURES 4    /* of `special` floats: one for each of so many seeds in a row */
#define PW_DRAW_INT_RANGE 100 /* integers whose range the room leaves open lie in [-100, 100] */

struct pw_draw {
    pw_dist dist;
    uint64_t seed, stream;      /* stream: the input's number */
    const struct pw_fill *fill; /* the room's domain; infinite = any */
    double exponents; /* `wide`: magnitudes lie in 2^±this, within the dtype's normal range; `special`: none is
                         larger but infinity */
    double share;     /* `special`: of elements; 0 = about one in two rows */
    double step;      /* `exact`: of every second seed, where rounding decides; 0 = 1 */
    bool alternate;   /* `cancel`: neighbours have opposite signs */
    bool near_one;    /* magnitudes between 3/4 and 4/3: products of many stay in range */
    bool masks;       /* `masked`: -inf goes into this input */
    bool finite;      /* `special`: no infinities, of which the definition leaves the result open */
    bool numbers;     /* `special`: no NaN either */
    bool anywhere;    /* `special`: NaN, infinities and [-1, 1] also outside a bounded domain: results are defined */
    bool powers;      /* `special`: squared inside, so no denormals alone: float32 cannot square them */
    bool few;         /* set by pw_draw_tensor: so few elements that chance would leave out most special values */
    bool single;      /* set by pw_draw_tensor: one element: which special value it is, the input's number says */
    int64_t last;     /* set by pw_draw_tensor: the last dim */
};

/* Fills a tensor of any dtype but string. */
void pw_draw_tensor(struct pw_tensor *t, const struct pw_draw *draw);

/* How an operator's input is drawn: exponents, alternate, masks… by category and name. */
void pw_draw_habits(const struct pw_call *call, int input, struct pw_draw *draw);
/* Does the distribution say anything about this call that normal does not? */
bool pw_draw_applies(const struct pw_call *call, pw_dist dist);
/* Are sums over `exact` draws the same bits in every order for this call, so that tolerance 0 is right? */
bool pw_draw_is_exact(const struct pw_call *call);

#endif
