/* Plans made by hand for the tests of devices: one program, one launch. Used by test programs only. */
#ifndef PW_TESTS_DEVICE_PLANS_H
#define PW_TESTS_DEVICE_PLANS_H

#include <string.h>

#include "target/device.h"

/* A launch of `entry` with the arguments (input 0, output 0, count). */
struct small_plan {
    struct pw_plan plan;
    struct pw_plan_buffer buffers[4];
    struct pw_plan_program program;
    struct pw_plan_launch launch;
    struct pw_plan_arg args[6];
};

static inline void small_plan_make(struct small_plan *p, const char *language, const char *source, const char *entry,
                                   uint64_t global, int64_t count)
{
    memset(p, 0, sizeof *p);
    p->buffers[0] = (struct pw_plan_buffer){.kind = PW_BUFFER_INPUT, .index = 0};
    p->buffers[1] = (struct pw_plan_buffer){.kind = PW_BUFFER_OUTPUT, .index = 0};
    p->args[0] = (struct pw_plan_arg){.kind = PW_ARG_BUFFER, .buffer = 0};
    p->args[1] = (struct pw_plan_arg){.kind = PW_ARG_BUFFER, .buffer = 1};
    p->args[2] = (struct pw_plan_arg){.kind = PW_ARG_INT, .i = count};
    p->program = (struct pw_plan_program){.language = language, .source = source, .options = ""};
    p->launch = (struct pw_plan_launch){
        .entry = entry, .work_dim = 1, .global = {global}, .local = {global > 0}, .args = p->args, .arg_count = 3};
    p->plan.buffers = p->buffers;
    p->plan.buffer_count = 2;
    p->plan.programs = &p->program;
    p->plan.program_count = 1;
    p->plan.launches = &p->launch;
    p->plan.launch_count = 1;
}

/* One float input, one float output. */
struct small_exec {
    struct small_plan plan;
    struct pw_value input, output;
    const struct pw_value *inputs[1];
    struct pw_exec_request request;
    struct pw_exec_reply reply;
    struct pw_error err;
};

static inline void small_exec_make(struct small_exec *x, const char *source, const char *entry, uint64_t global,
                                   float *in, float *out, int64_t count)
{
    memset(x, 0, sizeof *x);
    small_plan_make(&x->plan, "opencl", source, entry, global, count);
    x->input.kind = x->output.kind = PW_VALUE_TENSOR;
    pw_tensor_borrow(&x->input.tensor, PW_DTYPE_FLOAT32, 1, &count, in);
    pw_tensor_borrow(&x->output.tensor, PW_DTYPE_FLOAT32, 1, &count, out);
    x->inputs[0] = &x->input;
    x->request = (struct pw_exec_request){.plan = &x->plan.plan,
                                          .inputs = x->inputs,
                                          .input_count = 1,
                                          .outputs = &x->output,
                                          .output_count = 1,
                                          .poison = true,
                                          .seed = 1};
}

#endif
