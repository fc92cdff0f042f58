/*
 * TfIdfVectorizer of numbers: how often each known n-gram appears, also with words skipped between its words.
 * Algorithm: a work-item takes coordinates of the output, (row, column); for each gram of the column it walks the row
 * once for every number of skipped words and compares. `grams` holds for each gram its place in the pool, its length
 * and the bits of its weight; those of a column are grams[first[column]] to grams[first[column + 1]].
 */
#ifdef cl_khr_fp64
typedef double real_t;
#else
typedef float real_t;
#endif

static int occurs(__global const PW_TYPE(X) *x, __global const int *words, int n, long step)
{
    for (int w = 0; w < n; w++) {
        if (x[w * step] != (PW_TYPE(X))words[w])
            return 0;
    }
    return 1;
}

__kernel void tfidf(__global const PW_TYPE(X) *X, __global float *Y, __global const int *pool,
                    __global const int *grams, __global const int *first, const long cells, const int width,
                    const long length, const int skips, const int once)
{
    for (long cell = (long)get_global_id(0); cell < cells; cell += (long)get_global_size(0)) {
        __global const PW_TYPE(X) *x = X + cell / width * length;
        int column = (int)(cell % width);
        real_t total = 0;

        for (int g = first[column]; g < first[column + 1]; g++) {
            __global const int *words = pool + grams[3 * g];
            int n = grams[3 * g + 1], last_skip = n == 1 ? 0 : skips;
            float weight = as_float(grams[3 * g + 2]);

            for (long step = 1; step <= last_skip + 1 && (n - 1) * step < length; step++) {
                for (long begin = 0; begin + (n - 1) * step < length; begin++) {
                    if (occurs(x + begin, words, n, step))
                        total = once ? weight : total + weight;
                }
            }
        }
        Y[cell] = (float)total;
    }
}
