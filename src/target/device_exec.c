/*
 * Executions, the parent's side: a plan and tensors become a request in shared memory; the answer is
 * checked. Nothing of what the worker says is used as an index, a length or a time before it is bounded.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "target/device_internal.h"

#define BUFFER_ALIGNMENT 64 /* of data in shared memory: the widest vector that kernels load at once */

/* ---- checks ---- */

static pw_status check_launch(const struct pw_plan *plan, const struct pw_plan_launch *launch, struct pw_error *err)
{
    if (launch->work_dim < 1 || launch->work_dim > 3 || launch->program < 0 ||
        (size_t)launch->program >= plan->program_count)
        return pw_error_set(err, PW_ERR_USAGE, "launch '%s': no such program or work dimension", launch->entry);
    bool any_local = false;
    for (int d = 0; d < launch->work_dim; d++)
        any_local = any_local || launch->local[d] > 0;
    for (int d = 0; d < launch->work_dim; d++)
        if (any_local && (launch->local[d] == 0 || launch->global[d] % launch->local[d] != 0))
            return pw_error_set(err, PW_ERR_USAGE,
                                "launch '%s': the local size %llu does not divide the global size %llu in dimension %d",
                                launch->entry, (unsigned long long)launch->local[d],
                                (unsigned long long)launch->global[d], d);
    for (size_t i = 0; i < launch->arg_count; i++)
        if (launch->args[i].kind == PW_ARG_BUFFER &&
            (launch->args[i].buffer < 0 || (size_t)launch->args[i].buffer >= plan->buffer_count))
            return pw_error_set(err, PW_ERR_USAGE, "launch '%s': argument %zu names no buffer", launch->entry, i);
    return PW_OK;
}

static pw_status tensor_of(const struct pw_exec *x, pw_buffer_kind kind, int index, const struct pw_tensor **out,
                           struct pw_error *err)
{
    const struct pw_exec_request *r = x->request;
    bool input = kind == PW_BUFFER_INPUT;
    const struct pw_value *value = NULL;
    if (index >= 0 && index < (input ? r->input_count : r->output_count))
        value = input ? r->inputs[index] : &r->outputs[index];
    if (!value || value->kind != PW_VALUE_TENSOR || pw_dtype_facts(value->tensor.dtype)->kind == PW_KIND_STRING)
        return pw_error_set(err, PW_ERR_USAGE, "%s: %s %d is no tensor of numbers", x->what, input ? "input" : "output",
                            index);
    *out = &value->tensor;
    return PW_OK;
}

/* ---- the request ---- */

static pw_status make_arrays(struct pw_exec *x, size_t count, struct pw_error *err)
{
    size_t room = 2 * count + 1; /* each input may have an alternate */
    x->work.buffers = pw_arena_alloc(&x->arena, room, sizeof *x->work.buffers);
    x->tensors = pw_arena_alloc(&x->arena, room, sizeof *x->tensors);
    x->ints = pw_arena_alloc(&x->arena, room, sizeof *x->ints);
    x->work.buffer_count = count;
    if (!x->work.buffers || !x->tensors || !x->ints)
        return pw_error_memory(err, count * sizeof *x->work.buffers);
    return PW_OK;
}

static bool uses(const struct pw_plan_launch *launch, size_t buffer)
{
    for (size_t i = 0; i < launch->arg_count; i++)
        if (launch->args[i].kind == PW_ARG_BUFFER && (size_t)launch->args[i].buffer == buffer)
            return true;
    return false;
}

/* What a packed buffer is made of beside its own input: a zero point, say. All of it must be constant for it to be
 * kept, and names it. */
static pw_status mix_packed(const struct pw_exec *x, size_t packed, struct pw_work_buffer *b, struct pw_error *err)
{
    const struct pw_exec_request *r = x->request;
    for (size_t i = 0; i < r->plan->buffer_count; i++) {
        const struct pw_plan_buffer *other = &r->plan->buffers[i];
        bool used = false;
        for (size_t k = 0; k < r->plan->launch_count && !used; k++)
            used = r->plan->launches[k].pack && uses(&r->plan->launches[k], packed) && uses(&r->plan->launches[k], i);
        bool input_of = other->kind == PW_BUFFER_INPUT || other->kind == PW_BUFFER_PACKED; /* of which: by its index */
        if (!used || !input_of || other->index == b->index)
            continue;
        const struct pw_tensor *input = NULL;
        pw_status status = tensor_of(x, PW_BUFFER_INPUT, other->index, &input, err);
        if (status != PW_OK)
            return status;
        struct pw_hash128 parts[2] = {b->hash, pw_hash128(input->data, pw_tensor_bytes(input))};
        b->hash = pw_hash128(parts, sizeof parts);
        b->keep = b->keep && r->constant[other->index];
    }
    return PW_OK;
}

static pw_status describe_packed(struct pw_exec *x, size_t i, struct pw_work_buffer *b, struct pw_error *err)
{
    const struct pw_exec_request *r = x->request;
    const struct pw_plan_buffer *from = &r->plan->buffers[i];
    if (!r->constant || from->index < 0 || from->index >= r->input_count || !r->constant[from->index])
        return PW_OK;
    const struct pw_tensor *input = NULL;
    pw_status status = tensor_of(x, PW_BUFFER_INPUT, from->index, &input, err);
    if (status != PW_OK)
        return status;
    b->keep = true;
    b->hash = pw_hash128(input->data, pw_tensor_bytes(input));
    return mix_packed(x, i, b, err);
}

static pw_status describe_buffer(struct pw_exec *x, size_t i, struct pw_error *err)
{
    static const pw_region regions[] = {
        [PW_BUFFER_INPUT] = PW_REGION_IN,      [PW_BUFFER_OUTPUT] = PW_REGION_OUT, [PW_BUFFER_SCRATCH] = PW_REGION_OUT,
        [PW_BUFFER_PACKED] = PW_REGION_PACKED, [PW_BUFFER_INTS] = PW_REGION_IN,    [PW_BUFFER_FOUND] = PW_REGION_OUT};
    const struct pw_plan_buffer *from = &x->request->plan->buffers[i];
    struct pw_work_buffer *b = &x->work.buffers[i];
    pw_status status = PW_OK;
    b->kind = from->kind;
    b->index = from->index;
    b->region = regions[from->kind];
    b->size = from->size_bytes;
    if (from->kind == PW_BUFFER_INPUT || from->kind == PW_BUFFER_OUTPUT) {
        status = tensor_of(x, from->kind, from->index, &x->tensors[i], err);
        if (status == PW_OK)
            b->size = pw_tensor_bytes(x->tensors[i]);
    } else if (from->kind == PW_BUFFER_PACKED) {
        status = describe_packed(x, i, b, err);
    } else if (from->kind == PW_BUFFER_INTS) {
        x->ints[i] = from->ints;
    }
    return status;
}

/* The tensor that timed runs take in turns with the buffer's input; NULL: there is none. */
static const struct pw_tensor *alternate_of(const struct pw_exec *x, const struct pw_work_buffer *b,
                                            const struct pw_tensor *input)
{
    const struct pw_exec_request *r = x->request;
    const struct pw_value *value = r->alternate && b->kind == PW_BUFFER_INPUT ? r->alternate[b->index] : NULL;
    if (!value || value->kind != PW_VALUE_TENSOR || value->tensor.dtype != input->dtype ||
        pw_tensor_bytes(&value->tensor) != b->size || value->tensor.data == input->data)
        return NULL;
    return &value->tensor;
}

/* Alternates go behind the plan's own buffers, which keep their indices. The arrays have room for them. */
static void add_alternates(struct pw_exec *x)
{
    size_t own = x->work.buffer_count;
    for (size_t i = 0; i < own; i++) {
        struct pw_work_buffer *b = &x->work.buffers[i];
        const struct pw_tensor *tensor = x->tensors[i] ? alternate_of(x, b, x->tensors[i]) : NULL;
        b->alternate = -1;
        if (!tensor)
            continue;
        size_t at = x->work.buffer_count++;
        x->tensors[at] = tensor;
        x->work.buffers[at] = *b;
        b->alternate = (int)at;
    }
}

static pw_status describe_plan(struct pw_exec *x, struct pw_error *err)
{
    const struct pw_plan *plan = x->request->plan;
    pw_status status = make_arrays(x, plan->buffer_count, err);
    for (size_t i = 0; i < plan->launch_count && status == PW_OK; i++)
        status = check_launch(plan, &plan->launches[i], err);
    for (size_t i = 0; i < plan->buffer_count && status == PW_OK; i++)
        status = describe_buffer(x, i, err);
    if (status == PW_OK)
        add_alternates(x);
    x->work.programs = plan->programs;
    x->work.program_count = plan->program_count;
    x->work.launches = plan->launches;
    x->work.launch_count = plan->launch_count;
    return status;
}

static pw_status describe_library(struct pw_exec *x, struct pw_error *err)
{
    const struct pw_exec_request *r = x->request;
    pw_status status = pw_device_library_call(r->call, &x->arena, &x->work, err);
    if (status != PW_OK)
        return status;
    size_t inputs = (size_t)r->input_count, outputs = (size_t)r->output_count;
    status = make_arrays(x, inputs + outputs, err);
    x->work.tensors = pw_arena_alloc(&x->arena, inputs + outputs + 1, sizeof *x->work.tensors);
    if (status == PW_OK && !x->work.tensors)
        status = pw_error_memory(err, (inputs + outputs) * sizeof *x->work.tensors);
    x->work.library_inputs = inputs;
    x->work.library_outputs = outputs;
    size_t used = 0;
    for (size_t i = 0; i < inputs + outputs && status == PW_OK; i++) {
        bool input = i < inputs;
        struct pw_work_tensor *t = &x->work.tensors[i];
        const struct pw_tensor *tensor = NULL;
        t->buffer = -1;
        if (input ? !r->inputs[i] : r->outputs[i - inputs].kind == PW_VALUE_NONE)
            continue;
        pw_buffer_kind kind = input ? PW_BUFFER_INPUT : PW_BUFFER_OUTPUT;
        status = tensor_of(x, kind, (int)(input ? i : i - inputs), &tensor, err);
        if (status != PW_OK)
            break;
        t->buffer = (int)used;
        t->dtype = tensor->dtype;
        t->rank = tensor->rank;
        memcpy(t->dims, tensor->dims, sizeof t->dims);
        x->tensors[used] = tensor;
        x->work.buffers[used++] = (struct pw_work_buffer){.kind = kind,
                                                          .index = (int)(input ? i : i - inputs),
                                                          .region = input ? PW_REGION_IN : PW_REGION_OUT,
                                                          .size = pw_tensor_bytes(tensor)};
    }
    x->work.buffer_count = used;
    if (status == PW_OK)
        add_alternates(x);
    return status;
}

static bool lay_out_all(struct pw_exec *x)
{
    bool guarded = x->device->info.shares_host_memory;
    x->in_size = x->out_size = 0;
    for (size_t i = 0; i < x->work.buffer_count; i++) {
        struct pw_work_buffer *b = &x->work.buffers[i];
        size_t alignment = BUFFER_ALIGNMENT;
        if (x->request->exact_end)
            alignment = x->tensors[i] ? pw_dtype_bytes(x->tensors[i]->dtype) : 8;
        if (b->region != PW_REGION_PACKED && !pw_slot_layout(&b->slot, b->size, alignment, guarded,
                                                             b->region == PW_REGION_IN ? &x->in_size : &x->out_size))
            return false;
    }
    return true;
}

static pw_status lay_out(struct pw_exec *x, struct pw_error *err)
{
    bool good = lay_out_all(x);
    /* Behind the inputs, so that these are where those of the last request were: the worker keeps them mapped. */
    pw_work_write(&x->body, &x->work);
    if (x->body.failed)
        return pw_error_memory(err, x->body.size);
    x->body_at = x->in_size;
    x->in_size += x->body.size;
    size_t most = (size_t)sysconf(_SC_PHYS_PAGES) / 2 * pw_shm_page();
    if (!good || x->in_size > most || x->out_size > most - x->in_size)
        return pw_error_set(err, PW_ERR_TARGET, "%s: its tensors need more than half of this machine's memory",
                            x->what);
    return PW_OK;
}

/* Of the buffers that an input's tensor goes to. */
static bool is_last_of(const struct pw_exec *x, size_t i)
{
    const struct pw_work_buffer *b = &x->work.buffers[i];
    for (size_t k = i + 1; k < x->work.buffer_count; k++)
        if (x->work.buffers[k].kind == PW_BUFFER_INPUT && x->work.buffers[k].index == b->index)
            return false;
    return b->kind == PW_BUFFER_INPUT;
}

static void fill_regions(struct pw_exec *x, struct pw_link *link)
{
    const struct pw_exec_request *r = x->request;
    memcpy(link->in.data + x->body_at, x->body.data, x->body.size);
    for (size_t i = 0; i < x->work.buffer_count; i++) {
        const struct pw_work_buffer *b = &x->work.buffers[i];
        if (b->region == PW_REGION_PACKED)
            continue;
        uint8_t *region = b->region == PW_REGION_IN ? link->in.data : link->out.data;
        uint8_t *data = region + b->slot.offset + b->slot.front;
        const void *from = x->ints[i] ? (const void *)x->ints[i] : x->tensors[i] ? x->tensors[i]->data : NULL;
        pw_slot_arm(region, &b->slot, x->key);
        if (b->region == PW_REGION_OUT) {
            /* Without poison at least nothing of an earlier request may look like a result. */
            pw_dtype dtype = x->tensors[i] ? x->tensors[i]->dtype : PW_DTYPE_UNDEFINED;
            if (r->poison || x->work.paced)
                pw_shm_poison(data, b->size, dtype, r->seed + i);
            else
                memset(data, 0, b->size);
        } else if (b->size > 0) {
            memcpy(data, from, b->size);
            if (r->taken && is_last_of(x, i))
                r->taken(r->taken_user, b->index);
        }
    }
}

/* ---- the answer ---- */

static pw_status read_times(struct pw_exec *x, struct pw_link *link, struct pw_wire *wire, struct pw_error *err)
{
    const struct pw_exec_request *r = x->request;
    struct pw_exec_times *times = &x->reply->times;
    uint64_t most = (uint64_t)times->parent_ns;
    if (x->work.paced) /* it has nothing to say of times; its samples are ours */
        return pw_exec_paced_end(x, link, wire, err);
    uint64_t build = pw_wire_read_u64(wire), wall = pw_wire_read_u64(wire), device = pw_wire_read_u64(wire);
    x->reply->input_changed = pw_wire_read_u32(wire) != 0;
    x->reply->found = (int64_t)pw_wire_read_u64(wire);
    size_t count = pw_wire_read_count(wire, sizeof(int64_t));
    bool good = !wire->bad && build <= most && wall <= most && count <= (size_t)x->work.repeats;
    uint64_t total = good ? build + wall : 0;
    for (size_t i = 0; good && i < count; i++) {
        uint64_t sample = pw_wire_read_u64(wire);
        good = sample <= most;
        total += good ? sample : 0;
        if (good && r->samples_ns)
            r->samples_ns[i] = (int64_t)sample;
    }
    if (!good || total > most)
        return pw_link_refuse(link, x->what, err);
    times->build_ns = (int64_t)build;
    times->wall_ns = (int64_t)wall;
    /* A device's clock may be coarse or skewed: never more than what passed here. */
    times->device_ns = (int64_t)(device < wall ? device : wall);
    x->reply->sample_count = (int)count;
    /* As worker_exec.c takes them: the first run has `inputs`, timed run 0 the alternates, 1 the inputs… */
    for (size_t i = 0; i < x->work.buffer_count; i++)
        x->reply->alternate_last = x->reply->alternate_last || (x->work.buffers[i].alternate >= 0 && count % 2 == 1);
    return PW_OK;
}

static void check_canaries(struct pw_exec *x, const struct pw_link *link)
{
    struct pw_exec_reply *reply = x->reply;
    for (size_t i = 0; i < x->work.buffer_count && !reply->overrun; i++) {
        const struct pw_work_buffer *b = &x->work.buffers[i];
        int64_t offset;
        char name[32];
        if (b->region != PW_REGION_OUT || !pw_slot_broken(link->out.data, &b->slot, x->key, &offset))
            continue;
        reply->overrun = true;
        pw_work_buffer_name(b, name, sizeof name);
        if (offset < 0)
            snprintf(reply->where, sizeof reply->where, "%s, %lld bytes before its beginning", name,
                     (long long)-offset);
        else
            snprintf(reply->where, sizeof reply->where, "%s, %lld bytes past its end", name,
                     (long long)(offset - (int64_t)b->size));
    }
}

void pw_exec_take_outputs(struct pw_exec *x, const struct pw_link *link)
{
    for (size_t i = 0; i < x->work.buffer_count; i++) {
        const struct pw_work_buffer *b = &x->work.buffers[i];
        if (b->kind == PW_BUFFER_OUTPUT && b->size > 0)
            memcpy(x->tensors[i]->data, link->out.data + b->slot.offset + b->slot.front, b->size);
        if (b->kind == PW_BUFFER_FOUND) {
            int32_t found;
            memcpy(&found, link->out.data + b->slot.offset + b->slot.front, sizeof found);
            x->reply->found = found;
        }
    }
}

/* A compiler that says why it refuses will say so again; not one that had no room for what it writes. */
static void remember(struct pw_exec *x, const char *message, const char *log)
{
    struct pw_error ignored = {0};

    if (x->work.program_count && pw_device_blame_disk(x->device, PW_ERR_TARGET, &ignored) == PW_ERR_TARGET)
        pw_device_remember_failure(x->device, x->work.keys, x->work.program_count, message, log);
}

/* Waits for "built" and then for the reply; what the worker reports as failed is an error of the target. */
static pw_status await(struct pw_exec *x, struct pw_link *link, struct pw_wire *wire, struct pw_error *err)
{
    const struct pw_exec_request *r = x->request;
    struct pw_exec_reply *reply = x->reply;
    const char *message, *log;
    pw_message_type type;
    bool early = false;
    int64_t start = link->sent_ns;
    /* A library compiles what it needs within its call; who names a time means all of it. */
    int64_t run_deadline = r->deadline_ns > 0 ? r->deadline_ns
                           : r->library       ? PW_RUN_DEADLINE_NS + PW_BUILD_DEADLINE_NS
                                              : PW_RUN_DEADLINE_NS;
    /* Who has the programs compiles nothing: he runs at once, or does not know them. */
    pw_status status = pw_link_wait(link, x->work.known ? PW_MSG_FORGOTTEN : PW_MSG_BUILT,
                                    x->work.known ? run_deadline : PW_BUILD_DEADLINE_NS, r->cancel, x->what, &type,
                                    wire, &reply->log, err);
    x->forgotten = status == PW_OK && type == PW_MSG_FORGOTTEN;
    if (x->forgotten)
        return PW_OK;
    early = x->work.paced;
    x->unbuilt = status == PW_OK && type == PW_MSG_REPLY && !x->work.known;
    if (status == PW_OK && type == PW_MSG_BUILT) {
        int64_t left = run_deadline;
        if (x->work.paced)
            status = pw_exec_pace(x, link, &left, &type, wire, err);
        early = x->work.paced && type == PW_MSG_REPLY;
        if (status == PW_OK && type != PW_MSG_REPLY)
            status = pw_link_wait(link, PW_MSG_REPLY, left, r->cancel, x->what, &type, wire, &reply->log, err);
    }
    reply->times.parent_ns = pw_clock_ns() - start;
    if (status != PW_OK)
        return status;
    status = pw_wire_read_head(wire, &message, &log);
    /* Success before the last step, or before any, is nothing that a worker of ours would say; no output was taken. */
    if (wire->bad || (early && status == PW_OK))
        return pw_link_refuse(link, x->what, err);
    pw_buf_puts(&reply->log, log);
    pw_link_tail(link, &reply->log);
    if (status != PW_OK) {
        if (x->unbuilt && status == PW_ERR_TARGET && log[0])
            remember(x, message, pw_buf_text(&reply->log));
        return pw_error_set(err, status, "%s: %s", x->what, message);
    }
    return PW_OK;
}

static pw_status exchange(struct pw_exec *x, struct pw_link *link, struct pw_error *err)
{
    struct pw_buf payload = {0};
    struct pw_wire wire;
    pw_status status = pw_shm_ensure(&link->in, x->in_size, true, "inputs", err);
    if (status == PW_OK)
        status = pw_shm_ensure(&link->out, x->out_size, false, "outputs", err);
    if (status != PW_OK)
        return status;
    /* Unlike between runs, so that a canary cannot be restored from memory. */
    x->key = (uint64_t)pw_clock_ns() ^ (uint64_t)(uintptr_t)link ^ (x->request->seed << 17);
    fill_regions(x, link);
    pw_wire_u64(&payload, x->body_at);
    pw_wire_u64(&payload, x->body.size);
    status =
        payload.failed ? pw_error_memory(err, 8) : pw_link_send(link, PW_MSG_EXECUTE, payload.data, payload.size, err);
    pw_buf_clear(&payload);
    if (status != PW_OK) {
        pw_link_end(link);
        return status;
    }
    status = await(x, link, &wire, err);
    if (x->forgotten)
        return status;
    if (status == PW_OK)
        status = read_times(x, link, &wire, err);
    if (status == PW_OK) {
        check_canaries(x, link);
        if (!x->work.paced) /* else they were taken the moment that they were said to be there */
            pw_exec_take_outputs(x, link);
    }
    return status;
}

/* Kernels from outside never share a worker with others; one kernel's launches may share one. A kernel is all of its
 * sources. keys (may be NULL): of the plan's programs. */
static pw_status want_of(const struct pw_plan *plan, struct pw_hash128 *keys, struct pw_pool_want *want,
                         struct pw_error *err)
{
    *want = (struct pw_pool_want){.foreign = false};
    for (size_t i = 0; plan && i < plan->program_count; i++) {
        const struct pw_plan_program *program = &plan->programs[i];
        struct pw_hash128 key;
        pw_status status = pw_work_key(program, &key, err);
        if (status != PW_OK)
            return status;
        if (keys)
            keys[i] = key;
        want->program = pw_hash64(&key, sizeof key, want->program) | 1;
        struct pw_hash128 parts[2] = {want->kernel, pw_hash128(program->source, strlen(program->source))};
        want->foreign = want->foreign || program->foreign;
        want->kernel = pw_hash128(parts, sizeof parts);
    }
    return PW_OK;
}

/* On a worker of ours, in full or by the programs' keys alone. */
static pw_status execute_on(struct pw_exec *x, struct pw_pool_slot *slot, struct pw_error *err)
{
    /* What must be sent once more has not been given back. */
    x->work.known = slot->knows && !x->work.paced && !x->request->taken;
    pw_status status = lay_out(x, err);
    if (status == PW_OK)
        status = exchange(x, &slot->link, err);
    if (status != PW_OK || !x->forgotten)
        return status;
    x->work.known = x->forgotten = false;
    pw_buf_clear(&x->body);
    status = lay_out(x, err);
    return status == PW_OK ? exchange(x, &slot->link, err) : status;
}

static pw_status execute(struct pw_device *device, const struct pw_exec_request *request, struct pw_exec_reply *reply,
                         struct pw_error *err)
{
    struct pw_exec x = {.device = device, .request = request, .reply = reply};
    struct pw_pool_slot *slot = NULL;
    pw_status status;

    memset(reply, 0, sizeof *reply);
    const char *op = request->call && request->call->op ? request->call->op->name : NULL;
    const char *entry = request->plan && request->plan->launch_count > 0 ? request->plan->launches[0].entry : "library";
    snprintf(x.what, sizeof x.what, "%s%s%s on %s", op ? op : "", op ? " by " : "", entry, device->spec);
    if (!request->plan && !(request->library && request->call))
        return pw_error_set(err, PW_ERR_USAGE, "%s: neither a plan nor a library call", x.what);
    x.work.repeats = request->repeats < 0                      ? 0
                     : request->repeats > PW_PROTO_SAMPLES_MAX ? PW_PROTO_SAMPLES_MAX
                                                               : request->repeats;
    x.work.min_time_ns = request->min_time_ns;
    x.work.flush_bytes = request->flush_bytes;
    x.work.exact = request->exact_end;
    x.work.unwritten = request->unwritten;
    const struct pw_plan *plan = request->library ? NULL : request->plan;
    struct pw_pool_want want;
    x.work.keys = pw_arena_alloc(&x.arena, plan ? plan->program_count + 1 : 1, sizeof *x.work.keys);
    status = x.work.keys ? want_of(plan, x.work.keys, &want, err) : pw_error_memory(err, sizeof *x.work.keys);
    x.work.paced = status == PW_OK && want.foreign;
    if (status == PW_OK && plan &&
        pw_device_failed_before(device, x.work.keys, plan->program_count, x.what, &reply->log, err))
        status = PW_ERR_TARGET;
    if (status == PW_OK)
        status = request->library ? describe_library(&x, err) : describe_plan(&x, err);
    if (status == PW_OK)
        status = pw_pool_acquire(device, &want, &slot, err);
    if (status == PW_OK) {
        status = execute_on(&x, slot, err);
        if (request->taken)
            pw_link_end(&slot->link);
        pw_pool_release(device, slot);
    }
    pw_buf_clear(&x.body);
    pw_arena_clear(&x.arena);
    return status;
}

/* Buffers that end to the byte where their pages do begin at any multiple of an element. A kernel may count on more
 * (OpenCL promises the alignment of the widest vector), and its processor then faults without a place. */
static bool wants_alignment(const struct pw_exec_reply *reply, pw_status status)
{
    return status == PW_ERR_CRASH && strstr(pw_buf_text(&reply->log), PW_WORKER_FAULT_NOWHERE);
}

pw_status pw_device_execute(struct pw_device *device, const struct pw_exec_request *request,
                            struct pw_exec_reply *reply, struct pw_error *err)
{
    struct pw_error failure = {0};
    pw_status status = execute(device, request, reply, &failure);
    if (request->exact_end && wants_alignment(reply, status)) {
        struct pw_exec_request aligned = *request;
        aligned.exact_end = false;
        pw_exec_reply_clear(reply);
        failure = (struct pw_error){0};
        status = execute(device, &aligned, reply, &failure);
    }
    if (status == PW_ERR_TARGET || status == PW_ERR_CRASH)
        status = pw_device_blame_disk(device, status, &failure);
    return status == PW_OK ? PW_OK : pw_error_set(err, status, "%s", failure.message);
}

void pw_exec_reply_clear(struct pw_exec_reply *reply)
{
    pw_buf_clear(&reply->log);
}

pw_status pw_device_build(struct pw_device *device, const struct pw_plan *plan, struct pw_buf *log,
                          struct pw_error *err)
{
    struct pw_work work = {.programs = plan->programs, .program_count = plan->program_count};
    struct pw_buf body = {0}, payload = {0};
    struct pw_pool_slot *slot = NULL;
    struct pw_wire wire;
    pw_message_type type;
    const char *message, *text;
    struct pw_pool_want want;
    pw_status status = want_of(plan, NULL, &want, err);
    if (status != PW_OK)
        return status;
    pw_work_write(&body, &work);
    pw_wire_u64(&payload, 0);
    pw_wire_u64(&payload, body.size);
    status =
        body.failed || payload.failed ? pw_error_memory(err, body.size) : pw_pool_acquire(device, &want, &slot, err);
    if (status == PW_OK)
        status = pw_shm_ensure(&slot->link.in, body.size, true, "inputs", err);
    if (status == PW_OK) {
        memcpy(slot->link.in.data, body.data, body.size);
        status = pw_link_send(&slot->link, PW_MSG_BUILD, payload.data, payload.size, err);
        if (status == PW_OK)
            status = pw_link_wait(&slot->link, PW_MSG_REPLY, PW_BUILD_DEADLINE_NS, NULL, "building a program", &type,
                                  &wire, log, err);
        else
            pw_link_end(&slot->link);
    }
    if (status == PW_OK) {
        pw_status said = pw_wire_read_head(&wire, &message, &text);
        if (wire.bad)
            status = pw_link_refuse(&slot->link, "building a program", err);
        else if (log)
            pw_buf_puts(log, text);
        if (status == PW_OK && said != PW_OK)
            status = pw_error_set(err, said, "%s", message);
    }
    if (err && (status == PW_ERR_TARGET || status == PW_ERR_CRASH))
        status = pw_device_blame_disk(device, status, err);
    if (slot)
        pw_pool_release(device, slot);
    pw_buf_clear(&body);
    pw_buf_clear(&payload);
    return status;
}
