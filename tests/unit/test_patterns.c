/* Recognition of what exporters took apart: every spelling is found once, look-alikes are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "graph/inventory.h"
#include "graph_text.h"

struct found {
    struct pw_buf bytes;
    struct pw_model *model;
    struct pw_inference *inference;
    struct pw_inventory *inventory;
    struct pw_buf text; /* "attention[mask] SiLU[]": kind and details in order */
};

static struct found find(const char *text, int opset)
{
    struct found f = {.model = NULL};
    struct pw_error err = {0};

    f.model = graph_text_model(text, NULL, opset, &f.bytes);
    if (pw_infer_graph(f.model, NULL, 0, &f.inference, &err) != PW_OK ||
        pw_inventory_create(f.model, f.inference, &f.inventory, &err) != PW_OK)
        graph_text_fail(err.message, text);
    for (size_t i = 0; i < f.inventory->pattern_count; i++) {
        const struct pw_pattern *p = &f.inventory->patterns[i];

        pw_buf_printf(&f.text, "%s%s%s[%s]", i > 0 ? " " : "", p->parent >= 0 ? "part:" : "", pw_pattern_name(p->kind),
                      p->details);
    }
    return f;
}

static void drop(struct found *f)
{
    pw_inventory_destroy(f->inventory);
    pw_inference_destroy(f->inference);
    pw_model_destroy(f->model);
    pw_buf_clear(&f->bytes);
    pw_buf_clear(&f->text);
}

static void expect_opset(const char *text, int opset, const char *want)
{
    struct found f = find(text, opset);

    if (strcmp(pw_buf_text(&f.text), want) != 0)
        fprintf(stderr, "%s", text);
    assert_string_equal(pw_buf_text(&f.text), want);
    drop(&f);
}

static void expect(const char *text, const char *want)
{
    expect_opset(text, 13, want);
}

/* ---- LayerNorm, RMSNorm ---- */

#define NORM_HEAD                                                                                                      \
    "input x float32[batch,sequence,8]\n"                                                                              \
    "const two float32[] 2\nconst eps float32[] 0.00001\nconst half float32[] 0.5\nconst mhalf float32[] -0.5\n"       \
    "const one float32[] 1\nconst eight float32[] 8\nconst w float32[8] iota\nconst b float32[8] iota\n"               \
    "output y float32\n"

static void test_layernorm(void **state)
{
    static const char *const spellings[] = {
        /* PyTorch */
        "m = ReduceMean axes=[-1] (x)\nd = Sub (x, m)\ns = Pow (d, two)\nv = ReduceMean axes=[-1] (s)\n"
        "e = Add (v, eps)\nr = Sqrt (e)\nn = Div (d, r)\ng = Mul (n, w)\ny = Add (g, b)\n",
        /* commuted, a product for the square, the reciprocal of the root */
        "m = ReduceMean axes=[2] (x)\nd = Sub (x, m)\ns = Mul (d, d)\nv = ReduceMean axes=[2] (s)\n"
        "e = Add (eps, v)\nr = Sqrt (e)\ni = Reciprocal (r)\nn = Mul (i, d)\ng = Mul (w, n)\ny = Add (b, g)\n",
        /* a power of -1/2, casts around the statistics */
        "x32 = Cast to=1 (x)\nm = ReduceMean axes=[-1] (x32)\nd = Sub (x32, m)\ns = Pow (d, two)\n"
        "v = ReduceMean axes=[-1] (s)\ne = Add (v, eps)\ni = Pow (e, mhalf)\nn = Mul (d, i)\nc = Cast to=1 (n)\n"
        "g = Mul (c, w)\ny = Add (g, b)\n",
        /* the difference twice; one over the root */
        "m = ReduceMean axes=[-1] (x)\nd = Sub (x, m)\nd2 = Sub (x, m)\ns = Pow (d2, two)\n"
        "v = ReduceMean axes=[-1] (s)\ne = Add (v, eps)\nr = Sqrt (e)\ni = Div (one, r)\nn = Mul (d, i)\n"
        "g = Mul (n, w)\ny = Add (g, b)\n",
        /* without scale and shift */
        "m = ReduceMean axes=[-1] (x)\nd = Sub (x, m)\ns = Pow (d, two)\nv = ReduceMean axes=[-1] (s)\n"
        "e = Add (v, eps)\nr = Pow (e, half)\ny = Div (d, r)\n",
        /* mean of squares minus squared mean */
        "m = ReduceMean axes=[-1] (x)\nx2 = Mul (x, x)\nm2 = Mul (m, m)\nq = ReduceMean axes=[-1] (x2)\n"
        "v = Sub (q, m2)\ne = Add (v, eps)\nr = Sqrt (e)\nd = Sub (x, m)\nn = Div (d, r)\ng = Mul (n, w)\n"
        "y = Add (g, b)\n",
        /* folded scale: x*s + (beta - mean*s) */
        "m = ReduceMean axes=[-1] (x)\nd = Sub (x, m)\nsq = Mul (d, d)\nv = ReduceMean axes=[-1] (sq)\n"
        "e = Add (v, eps)\nr = Sqrt (e)\ni = Reciprocal (r)\ns = Mul (i, w)\np = Mul (x, s)\nms = Mul (m, s)\n"
        "t = Sub (b, ms)\ny = Add (p, t)\n",
        /* x + (-mean) */
        "m = ReduceMean axes=[-1] (x)\nk = Neg (m)\nd = Add (x, k)\ns = Pow (d, two)\nv = ReduceMean axes=[-1] (s)\n"
        "e = Add (v, eps)\nr = Sqrt (e)\nn = Div (d, r)\ng = Mul (n, w)\ny = Add (g, b)\n",
    };

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(spellings); i++) {
        char text[2048];

        snprintf(text, sizeof text, "%s%s", NORM_HEAD, spellings[i]);
        expect(text, "LayerNorm[over 8]");
    }
}

static void test_rmsnorm(void **state)
{
    static const char *const spellings[] = {
        "s = Pow (x, two)\nv = ReduceMean axes=[-1] (s)\ne = Add (v, eps)\nr = Sqrt (e)\ni = Div (one, r)\n"
        "n = Mul (x, i)\ny = Mul (w, n)\n",
        "s = Mul (x, x)\nv = ReduceMean axes=[-1] (s)\ne = Add (eps, v)\nr = Sqrt (e)\nn = Div (x, r)\n"
        "y = Mul (n, w)\n",
        "x32 = Cast to=1 (x)\ns = Pow (x32, two)\nv = ReduceMean axes=[-1] (s)\ne = Add (v, eps)\nr = Sqrt (e)\n"
        "i = Reciprocal (r)\nn = Mul (x32, i)\nc = Cast to=1 (n)\ny = Mul (w, c)\n",
        "s = Mul (x, x)\nv = ReduceMean axes=[-1] (s)\ne = Add (v, eps)\ni = Pow (e, mhalf)\niw = Mul (i, w)\n"
        "y = Mul (x, iw)\n",
        "q = ReduceSumSquare axes=[-1] (x)\nv = Div (q, eight)\ne = Add (v, eps)\nr = Sqrt (e)\nn = Div (x, r)\n"
        "y = Mul (n, w)\n",
    };

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(spellings); i++) {
        char text[2048];

        snprintf(text, sizeof text, "%s%s", NORM_HEAD, spellings[i]);
        expect(text, "RMSNorm[over 8]");
    }
}

static void test_no_norm(void **state)
{
    (void)state;
    /* instance normalization: over the planes of each channel */
    expect(
        "input x float32[batch,3,8,8]\nconst two float32[] 2\nconst eps float32[] 0.001\nconst w float32[3,1,1] 1 2 3\n"
        "m = ReduceMean axes=[2,3] (x)\nd = Sub (x, m)\ns = Pow (d, two)\nv = ReduceMean axes=[2,3] (s)\n"
        "e = Add (v, eps)\nr = Sqrt (e)\nn = Div (d, r)\ny = Mul (n, w)\noutput y float32\n",
        "");
    /* over the last axis, but scaled per channel */
    expect("input x float32[batch,3,8]\nconst two float32[] 2\nconst eps float32[] 0.001\nconst w float32[3,1] 1 2 3\n"
           "m = ReduceMean axes=[2] (x)\nd = Sub (x, m)\ns = Pow (d, two)\nv = ReduceMean axes=[2] (s)\n"
           "e = Add (v, eps)\nr = Sqrt (e)\nn = Div (d, r)\ny = Mul (n, w)\noutput y float32\n",
           "");
    /* a standard deviation that divides something else */
    expect("input x float32[batch,8]\ninput z float32[batch,8]\nconst two float32[] 2\n"
           "m = ReduceMean axes=[-1] (x)\nd = Sub (x, m)\ns = Pow (d, two)\nv = ReduceMean axes=[-1] (s)\n"
           "r = Sqrt (v)\ny = Div (z, r)\noutput y float32\n",
           "");
    /* a cube */
    expect("input x float32[batch,8]\nconst three float32[] 3\n"
           "s = Pow (x, three)\nv = ReduceMean axes=[-1] (s)\nr = Sqrt (v)\ny = Div (x, r)\noutput y float32\n",
           "");
}

/* ---- activations ---- */

#define ACT_HEAD                                                                                                       \
    "input x float32[batch,8]\nconst one float32[] 1\nconst half float32[] 0.5\nconst root2 float32[] 1.4142135\n"     \
    "const iroot2 float32[1] 0.70710678\nconst three float32[] 3\nconst c float32[] 0.044715\n"                        \
    "const k float32[] 0.7978845608\nconst two float32[] 2\nconst wide float32[2] 1 2\noutput y float32\n"

static void test_gelu_erf(void **state)
{
    static const char *const spellings[] = {
        "d = Div (x, root2)\ne = Erf (d)\na = Add (e, one)\np = Mul (x, a)\ny = Mul (p, half)\n",
        "d = Mul (iroot2, x)\ne = Erf (d)\na = Add (one, e)\nh = Mul (half, x)\ny = Mul (a, h)\n",
        "d = Mul (x, iroot2)\ne = Erf (d)\na = Add (e, one)\nh = Mul (a, half)\ny = Mul (h, x)\n",
        "d = Div (x, root2)\ne = Erf (d)\nh = Mul (e, half)\na = Add (half, h)\ny = Mul (x, a)\n",
        "d = Div (x, root2)\ne = Erf (d)\na = Add (e, one)\nq = Cast to=1 (a)\np = Mul (x, q)\ny = Div (p, two)\n",
    };

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(spellings); i++) {
        char text[2048];

        snprintf(text, sizeof text, "%s%s", ACT_HEAD, spellings[i]);
        expect(text, "GELU (erf)[]");
    }
}

static void test_gelu_tanh(void **state)
{
    static const char *const spellings[] = {
        "q = Pow (x, three)\nr = Mul (q, c)\ns = Add (x, r)\nt = Mul (s, k)\nu = Tanh (t)\nv = Add (u, one)\n"
        "h = Mul (x, half)\ny = Mul (h, v)\n",
        "x2 = Mul (x, x)\nx3 = Mul (x2, x)\nr = Mul (c, x3)\ns = Add (r, x)\nt = Mul (k, s)\nu = Tanh (t)\n"
        "v = Add (one, u)\nw = Mul (v, half)\ny = Mul (x, w)\n",
        "x2 = Mul (x, x)\nr = Mul (x2, c)\ns = Add (one, r)\nkx = Mul (x, k)\nt = Mul (kx, s)\nu = Tanh (t)\n"
        "v = Add (u, one)\nw = Mul (x, v)\ny = Mul (w, half)\n",
        /* x * sigmoid(2 * k * (x + c x^3)) is the same function */
        "q = Pow (x, three)\nr = Mul (q, c)\ns = Add (x, r)\nt = Mul (s, k)\nt2 = Mul (t, two)\nu = Sigmoid (t2)\n"
        "y = Mul (x, u)\n",
    };

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(spellings); i++) {
        char text[2048];

        snprintf(text, sizeof text, "%s%s", ACT_HEAD, spellings[i]);
        expect(text, "GELU (tanh)[]");
    }
}

static void test_silu(void **state)
{
    static const char *const spellings[] = {
        "s = Sigmoid (x)\ny = Mul (x, s)\n",
        "s = Sigmoid (x)\ny = Mul (s, x)\n",
        "n = Neg (x)\ne = Exp (n)\nd = Add (e, one)\ny = Div (x, d)\n",
        "h = Mul (x, half)\nt = Tanh (h)\na = Add (t, one)\nb = Mul (a, half)\ny = Mul (x, b)\n",
    };

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(spellings); i++) {
        char text[2048];

        snprintf(text, sizeof text, "%s%s", ACT_HEAD, spellings[i]);
        expect(text, "SiLU[]");
    }
}

static void test_no_activation(void **state)
{
    static const char *const others[] = {
        "s = Sigmoid (x)\ny = Mul (s, half)\n",                                                 /* no x */
        "q = Mul (x, three)\ns = Sigmoid (q)\ny = Mul (x, s)\n",                                /* another slope */
        "d = Div (x, two)\ne = Erf (d)\na = Add (e, one)\nh = Mul (x, half)\ny = Mul (h, a)\n", /* another width */
        "t = Tanh (x)\ny = Mul (x, t)\n",
        "s = Sigmoid (x)\nr = Relu (x)\ny = Mul (r, s)\n",
        "e = Exp (x)\ny = Div (x, e)\n",
    };

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(others); i++) {
        char text[2048];

        snprintf(text, sizeof text, "%s%s", ACT_HEAD, others[i]);
        expect(text, "");
    }
}

#define GLU_HEAD                                                                                                       \
    "input x float32[batch,4]\nconst wg float32[4,8] 0.1\nconst wu float32[4,8] 0.2\nconst wb float32[4,16] 0.3\n"     \
    "const bias float32[8] iota\noutput y float32\n"

static void test_swiglu(void **state)
{
    static const char *const spellings[] = {
        "g = MatMul (x, wg)\nu = MatMul (x, wu)\ns = Sigmoid (g)\na = Mul (g, s)\ny = Mul (a, u)\n",
        "g = MatMul (x, wg)\nm = MatMul (x, wu)\nu = Add (m, bias)\ns = Sigmoid (g)\na = Mul (s, g)\ny = Mul (u, a)\n",
        "f = MatMul (x, wb)\ng,u = Split axis=1 (f)\ns = Sigmoid (g)\na = Mul (g, s)\ny = Mul (a, u)\n",
    };
    struct found f;

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(spellings); i++) {
        char text[2048];

        snprintf(text, sizeof text, "%s%s", GLU_HEAD, spellings[i]);
        expect(text, "SwiGLU[] part:SiLU[]");
    }
    /* squeeze and excite: a SiLU, then a gate that is no linear half */
    expect(GLU_HEAD "g = MatMul (x, wg)\ns = Sigmoid (g)\na = Mul (g, s)\nq = Sigmoid (g)\ny = Mul (a, q)\n", "SiLU[]");
    f = find(GLU_HEAD "g = MatMul (x, wg)\nu = MatMul (x, wu)\ns = Sigmoid (g)\na = Mul (g, s)\ny = Mul (a, u)\n", 13);
    assert_int_equal(f.inventory->patterns[0].node_count, 3); /* the SiLU's nodes are members too */
    assert_int_equal(f.inventory->patterns[1].node_count, 2);
    assert_int_equal(f.inventory->patterns[1].parent, 0);
    assert_int_equal(f.inventory->node_pattern[2], 1); /* s: innermost */
    assert_int_equal(f.inventory->node_pattern[4], 0); /* y */
    assert_int_equal(f.inventory->node_pattern[0], -1);
    drop(&f);
}

/* ---- rotary ---- */

#define ROTARY_HEAD                                                                                                    \
    "input q float32[batch,2,sequence,8]\ninput cos float32[sequence,8]\ninput sin float32[sequence,8]\n"              \
    "const z int64[1] 0\nconst h int64[1] 4\nconst big int64[1] 9223372036854775807\nconst last int64[1] 3\n"          \
    "const step int64[1] 2\nconst o int64[1] 1\noutput y float32\n"

static void test_rotary(void **state)
{
    (void)state;
    expect(ROTARY_HEAD "a = Mul (q, cos)\nl = Slice (q, z, h, last)\nr = Slice (q, h, big, last)\nn = Neg (r)\n"
                       "t = Concat axis=-1 (n, l)\nb = Mul (t, sin)\ny = Add (a, b)\n",
           "rotary[]");
    expect(ROTARY_HEAD "l,r = Split axis=3 (q)\nn = Neg (r)\nt = Concat axis=3 (n, l)\nb = Mul (sin, t)\n"
                       "a = Mul (cos, q)\ny = Add (b, a)\n",
           "rotary[]");
    /* even and odd elements */
    expect(ROTARY_HEAD "e = Slice (q, z, big, last, step)\nd = Slice (q, o, big, last, step)\n"
                       "ch = Slice (cos, z, h, o)\nsh = Slice (sin, z, h, o)\n"
                       "ec = Mul (e, ch)\nds = Mul (d, sh)\nre = Sub (ec, ds)\n"
                       "es = Mul (e, sh)\ndc = Mul (d, ch)\nim = Add (es, dc)\ny = Concat axis=-1 (re, im)\n",
           "rotary[]");
    /* the halves the wrong way round: a plain swap */
    expect(ROTARY_HEAD "l,r = Split axis=3 (q)\nt = Concat axis=3 (r, l)\nb = Mul (sin, t)\na = Mul (cos, q)\n"
                       "y = Add (b, a)\n",
           "");
    /* halves of another tensor */
    expect(ROTARY_HEAD "input k float32[batch,2,sequence,8]\nl,r = Split axis=3 (k)\nn = Neg (r)\n"
                       "t = Concat axis=3 (n, l)\nb = Mul (sin, t)\na = Mul (cos, q)\ny = Add (b, a)\n",
           "");
}

/* ---- attention ---- */

#define ATTENTION_HEAD                                                                                                 \
    "input q float32[batch,4,sequence,8]\ninput k float32[batch,4,total,8]\ninput v float32[batch,4,total,8]\n"        \
    "const root float32[] 2.8284271\nconst scale float32[] 0.35355339\noutput y float32\n"

static void test_attention(void **state)
{
    static const char tail[] = "p = Softmax axis=-1 (z)\ny = MatMul (p, v)\n";
    static const struct {
        const char *scores, *want;
    } spellings[] = {
        {"kt = Transpose perm=[0,1,3,2] (k)\ns = MatMul (q, kt)\nz = Div (s, root)\n", "attention[4 heads]"},
        {"kt = Transpose perm=[0,1,3,2] (k)\nqs = Mul (q, scale)\nz = MatMul (qs, kt)\n", "attention[4 heads]"},
        {"input m float32[batch,1,1,total]\nkt = Transpose perm=[0,1,3,2] (k)\ns = MatMul (q, kt)\n"
         "d = Mul (scale, s)\nz = Add (d, m)\n",
         "attention[4 heads, mask]"},
        {"input m float32[batch,1,1,total]\nkt = Transpose perm=[0,1,3,2] (k)\ns = MatMul (q, kt)\nw = Add (m, s)\n"
         "z = Div (w, root)\n",
         "attention[4 heads, mask]"},
        {"input m bool[1,1,sequence,total]\nconst low float32[] -10000\nkt = Transpose perm=[0,1,3,2] (k)\n"
         "s = MatMul (q, kt)\nd = Div (s, root)\nz = Where (m, d, low)\n",
         "attention[4 heads, mask]"},
        {"input m bool[1,1,sequence,total]\nconst low float32[] -10000\nkt = Transpose perm=[0,1,3,2] (k)\n"
         "s = MatMul (q, kt)\nz = Where (m, low, s)\n",
         "attention[4 heads, mask]"},
        {"kt = Transpose perm=[0,1,3,2] (k)\ns = MatMul (q, kt)\nd = Div (s, root)\nz = Cast to=1 (d)\n",
         "attention[4 heads]"},
        {"s = Einsum equation='bhqd,bhkd->bhqk' (q, k)\nz = Mul (s, scale)\n", "attention[4 heads]"},
        /* a soft cap */
        {"kt = Transpose perm=[0,1,3,2] (k)\ns = MatMul (q, kt)\nd = Div (s, root)\nt = Tanh (d)\nz = Mul (t, root)\n",
         "attention[4 heads]"},
    };

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(spellings); i++) {
        char text[2048];

        snprintf(text, sizeof text, "%s%s%s", ATTENTION_HEAD, spellings[i].scores, tail);
        expect(text, spellings[i].want);
    }
}

static void test_attention_after(void **state)
{
    (void)state;
    /* dropout, a cast and a guard between the probabilities and the values; heads joined afterwards */
    expect(ATTENTION_HEAD "input bad bool[batch,1,sequence,1]\nconst nil float32[] 0\nconst to int64[3] 0 0 32\n"
                          "kt = Transpose perm=[0,1,3,2] (k)\nz = MatMul (q, kt)\np = Softmax axis=3 (z)\n"
                          "g = Where (bad, nil, p)\nd = Dropout (g)\nc = Cast to=1 (d)\nu = MatMul (c, v)\n"
                          "t = Transpose perm=[0,2,1,3] (u)\ny = Reshape (t, to)\n",
           "attention[4 heads]");
}

static void test_grouped_cache(void **state)
{
    struct found f =
        find("input q float32[batch,4,sequence,8]\ninput nk float32[batch,2,sequence,8]\n"
             "input nv float32[batch,2,sequence,8]\ninput pk float32[batch,2,past,8]\n"
             "input pv float32[batch,2,past,8]\nconst two int64[1] 2\nconst ex int64[5] 1 1 2 1 1\n"
             "const to int64[4] 0 4 -1 8\nconst root float32[] 2.8284271\n"
             "rk = Relu (nk)\nrv = Relu (nv)\n"
             "k = Concat axis=2 (pk, rk)\nv = Concat axis=2 (pv, rv)\n"
             "k5 = Unsqueeze (k, two)\nv5 = Unsqueeze (v, two)\nke = Expand (k5, ex)\nve = Expand (v5, ex)\n"
             "kr = Reshape (ke, to)\nvr = Reshape (ve, to)\nkt = Transpose perm=[0,1,3,2] (kr)\n"
             "s = MatMul (q, kt)\nd = Div (s, root)\np = Softmax axis=-1 (d)\ny = MatMul (p, vr)\n"
             "output y float32\noutput k float32\noutput v float32\n",
             13);

    (void)state;
    assert_string_equal(pw_buf_text(&f.text), "attention[4 heads, cache, grouped KV 2:1]");
    /* the projections' Relu are not members, everything from the cache on is */
    assert_int_equal(f.inventory->patterns[0].node_count, 13);
    assert_int_equal(f.inventory->node_pattern[0], -1);
    assert_int_equal(f.inventory->node_pattern[2], 0);
    drop(&f);
}

static void test_no_attention(void **state)
{
    (void)state;
    /* a classifier: the product is with weights */
    expect("input x float32[batch,8]\nconst w float32[8,4] 0.5\nl = MatMul (x, w)\ny = Softmax axis=-1 (l)\n"
           "output y float32\n",
           "");
    /* an expectation over fixed bins */
    expect("input x float32[batch,3,4]\nconst bins float32[4,1] iota\np = Softmax axis=-1 (x)\ny = MatMul (p, bins)\n"
           "output y float32\n",
           "");
    /* over another axis */
    expect(ATTENTION_HEAD "kt = Transpose perm=[0,1,3,2] (k)\nz = MatMul (q, kt)\np = Softmax axis=1 (z)\n"
                          "y = MatMul (p, v)\n",
           "");
    /* scores of activations, but nothing is weighted with them */
    expect(ATTENTION_HEAD "kt = Transpose perm=[0,1,3,2] (k)\nz = MatMul (q, kt)\ny = Softmax axis=-1 (z)\n", "");
}

/* ---- fused operators ---- */

static void test_fused(void **state)
{
    (void)state;
    expect_opset("input x float32[batch,8]\nconst w float32[8] iota\nt = LayerNormalization axis=-1 (x, w)\n"
                 "y = com.microsoft:FastGelu (t)\noutput y float32\n",
                 17, "LayerNorm[fused] GELU (tanh)[fused]");
    expect_opset("input q float32[batch,2,12]\ninput x float32[batch,2,8]\ninput s int32[batch]\nconst n int32[1] 2\n"
                 "const w float32[8] iota\n"
                 "t = com.microsoft:GroupQueryAttention num_heads=8 kv_num_heads=2 (q, , , , , s, n)\n"
                 "a = com.microsoft:SkipSimplifiedLayerNormalization (t, x, w)\ny = com.microsoft:Gelu (a)\n"
                 "output y float32\n",
                 17, "attention[fused, 8 heads, grouped KV 4:1] RMSNorm[fused] GELU (erf)[fused]");
    expect_opset("input x float32[batch,8]\ny = Gelu approximate='tanh' (x)\noutput y float32\n", 20,
                 "GELU (tanh)[fused]");
}

/* ---- the pattern's own signature ---- */

static void test_pattern_text(void **state)
{
    struct found f = find("input x float32[2,8]\nconst w float32[8,8] 0.1\ng = MatMul (x, w)\ns = Sigmoid (g)\n"
                          "a = Mul (g, s)\ng2 = MatMul (a, w)\ns2 = Sigmoid (g2)\ny = Mul (g2, s2)\noutput y float32\n",
                          13);

    (void)state;
    assert_int_equal(f.inventory->pattern_count, 2);
    assert_string_equal(f.inventory->patterns[0].text, "SiLU (float32[2,8]) -> (float32[2,8])");
    assert_string_equal(f.inventory->patterns[0].id, f.inventory->patterns[1].id);
    assert_int_equal(strlen(f.inventory->patterns[0].id), 16);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layernorm),       cmocka_unit_test(test_rmsnorm),
        cmocka_unit_test(test_no_norm),         cmocka_unit_test(test_gelu_erf),
        cmocka_unit_test(test_gelu_tanh),       cmocka_unit_test(test_silu),
        cmocka_unit_test(test_no_activation),   cmocka_unit_test(test_swiglu),
        cmocka_unit_test(test_rotary),          cmocka_unit_test(test_attention),
        cmocka_unit_test(test_attention_after), cmocka_unit_test(test_grouped_cache),
        cmocka_unit_test(test_no_attention),    cmocka_unit_test(test_fused),
        cmocka_unit_test(test_pattern_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
