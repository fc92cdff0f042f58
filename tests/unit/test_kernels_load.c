/* Every description of the source tree loads, and hand kernels say how they work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "op/kernel.h"

#include "paths.h"

static void test_load(void **state)
{
    const char *source = getenv("PW_SOURCE");
    struct pw_kernels *kernels = NULL;
    struct pw_error err = {0};
    struct pw_buf path = {0};
    struct pw_ops_dir dir = {NULL, false};

    (void)state;
    pw_buf_printf(&path, "%s/ops", source ? source : PW_SRCDIR);
    dir.path = pw_buf_text(&path);
    if (pw_kernels_load(&dir, 1, &kernels, &err) != PW_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < pw_kernels_count(kernels); i++) {
        const struct pw_kernel *kernel = pw_kernels_at(kernels, i);
        const char *text = pw_kernel_source(kernel, "opencl");

        assert_false(pw_kernel_foreign(kernel));
        assert_ptr_equal(pw_kernels_find(kernels, pw_kernel_name(kernel)), kernel);
        if (strcmp(pw_kernel_author(kernel), "hand") != 0)
            continue;
        if (!*pw_kernel_algorithm(kernel) || !*pw_kernel_tiling(kernel))
            fail_msg("%s: kernel '%s': provenance needs algorithm and tiling", pw_kernel_path(kernel),
                     pw_kernel_name(kernel));
        if (text) /* compiled from memory: there is no folder to include from */
            assert_null(strstr(text, "#include"));
    }
    pw_kernels_destroy(kernels);
    pw_buf_clear(&path);
}

/* PORTWRIGHT_OPS_DIR wins; an empty one does not count. */
static void test_default_dir(void **state)
{
    (void)state;
    assert_int_equal(setenv("PORTWRIGHT_OPS_DIR", "/somewhere/ops", 1), 0);
    assert_string_equal(pw_ops_dir_default(), "/somewhere/ops");
    assert_int_equal(setenv("PORTWRIGHT_OPS_DIR", "", 1), 0);
    assert_true(strcmp(pw_ops_dir_default(), PW_DATADIR "/ops") == 0 ||
                strcmp(pw_ops_dir_default(), PW_SRCDIR "/ops") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_default_dir),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
