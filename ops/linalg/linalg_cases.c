#include "op/cases.h"

/* By hand, from the sum over permutations. */
const struct pw_room_case pw_linalg_cases[] = {
    {"linalg/det", "Det-11", {"float32[2,2] 0 1 2 3"}, {"float32[] -2"}, NULL, 0},
    {"linalg/det_batch", "Det-22", {"float32[1,3,2,2] 1 2 3 4 1 2 2 1 1 3 3 1"}, {"float32[1,3] -2 -3 -8"}, NULL, 0},
    {"linalg/det_of_one", "Det-22", {"float32[2,1,1] 5 -7"}, {"float32[2] 5 -7"}, NULL, 0},
    {"linalg/det_of_none", "Det-22", {"float32[2,0,0]"}, {"float32[2] 1"}, NULL, 0},
    {"linalg/det_no_matrices", "Det-22", {"float32[0,3,3]"}, {"float32[0]"}, NULL, 0},
    /* One exchange of rows: the permutation matrix of a cycle of four has sign -1. */
    {"linalg/det_needs_exchanges",
     "Det-22",
     {"float32[4,4] 0 2 0 0 0 0 3 0 0 0 0 5 7 0 0 0"},
     {"float32[] -210"},
     NULL,
     0},
    {"linalg/det_singular", "Det-22", {"float64[3,3] 1 2 3 2 4 6 7 8 9"}, {"float64[] 0"}, NULL, 0},
    {"linalg/det_half", "Det-22", {"float16[3,3] 2 0 1 1 3 2 1 1 4"}, {"float16[] 18"}, NULL, 1e-3},
    {"linalg/det_double", "Det-22", {"float64[3,3] 2 0 1 1 3 2 1 1 4"}, {"float64[] 18"}, NULL, 1e-15},
    /* Upper triangular with a dense upper part, 9 rows: no vector of 8 fits; product of the diagonal. */
    {"linalg/det_nine",
     "Det-22",
     {"float32[9,9] 1 1 1 1 1 1 1 1 1 0 2 1 1 1 1 1 1 1 0 0 1 2 3 4 5 6 7 0 0 0 3 1 1 1 1 1 0 0 0 0 1 1 1 1 1 "
      "0 0 0 0 0 2 1 1 1 0 0 0 0 0 0 1 4 4 0 0 0 0 0 0 0 -1 3 0 0 0 0 0 0 0 0 2"},
     {"float32[] -24"},
     NULL,
     0},
    /* Dense; exact by fractions. */
    {"linalg/det_eleven",
     "Det-22",
     {"float32[2,11,11] 0 0 2 3 -3 -2 2 3 -2 -1 3 -1 -2 2 -2 -1 1 0 -3 -3 3 2 2 0 2 -1 0 2 -3 -1 -3 0 3 -3 -1 -1 3 -2 "
      "0 "
      "-2 -3 2 -3 -2 0 0 -3 3 2 3 -3 2 -1 0 3 -2 2 -2 -1 3 -1 0 -1 -3 -1 1 0 2 -1 1 2 3 -1 -3 2 0 3 0 "
      "-1 -3 0 1 2 2 -2 1 2 -2 -1 2 1 0 1 0 3 2 -3 -2 0 2 -3 1 2 2 3 -2 0 2 -1 -2 0 -3 -2 2 1 3 2 3 -1 "
      "0 1 -2 3 -3 2 1 -2 2 -1 2 3 -2 0 -2 1 1 2 2 3 3 3 -2 -3 0 -1 3 2 -1 1 1 3 -3 0 1 0 3 3 2 0 3 -3 "
      "1 -2 -2 1 2 3 -2 3 2 -1 -3 2 2 0 -2 -2 -1 2 -1 -3 1 2 -2 0 -1 0 -3 1 -2 0 -1 1 -3 -1 1 2 -1 -3 "
      "2 0 1 -2 0 3 3 -1 1 -3 2 -2 -1 3 0 3 -2 2 3 -3 -2 -2 -2 -1 -3 3 -2 3 2 -2 1 2 -3 -3 -1 -3 -1 0 "
      "1 1 0 -2 1"},
     {"float32[2] -18814690 726268"},
     NULL,
     1e-5},
    {"linalg/det_nan", "Det-22", {"float32[2,2,2] 0 0 nan 0 1 2 3 nan"}, {"float32[2] nan nan"}, NULL, 0},
    {"linalg/det_range", /* 1e30 * 1e30 leaves float's range on the way */
     "Det-22",
     {"float32[3,3] 1e30 0 0 0 1e30 0 0 0 1e-30"},
     {"float32[] 1e30"},
     NULL,
     0},
    {"linalg/det_not_square", "Det-22", {"float32[2,3] 1"}, {NULL}, "2 x 3, square ones expected", 0},
    {"linalg/det_vector", "Det-22", {"float32[2] 1"}, {NULL}, "at least 2 expected", 0},
    {"linalg/det_integers", "Det-22", {"int32[1,1] 1"}, {NULL}, "a float type expected", 0},
    {0},
};
