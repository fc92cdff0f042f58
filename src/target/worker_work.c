/* An execution's description as bytes: written by the parent into the input region, read by the worker. */
#include <stdio.h>
#include <string.h>

#include "target/worker_proto.h"

#define WORK_MAX_ITEMS 65536

static void write_slot(struct pw_buf *out, const struct pw_slot *slot)
{
    pw_wire_u64(out, slot->offset);
    pw_wire_u64(out, slot->pages);
    pw_wire_u64(out, slot->front);
    pw_wire_u64(out, slot->size);
}

static void write_launch(struct pw_buf *out, const struct pw_plan_launch *launch)
{
    pw_wire_u32(out, (uint32_t)launch->program);
    pw_wire_text(out, launch->entry);
    pw_wire_u32(out, (uint32_t)launch->work_dim);
    pw_wire_bytes(out, launch->global, sizeof launch->global);
    pw_wire_bytes(out, launch->local, sizeof launch->local);
    pw_wire_u32(out, launch->pack);
    pw_wire_u32(out, (uint32_t)launch->arg_count);
    for (size_t i = 0; i < launch->arg_count; i++) {
        const struct pw_plan_arg *arg = &launch->args[i];
        pw_wire_u32(out, (uint32_t)arg->kind);
        pw_wire_u32(out, (uint32_t)arg->buffer);
        pw_wire_u64(out, (uint64_t)arg->i);
        pw_wire_f64(out, arg->f);
    }
}

const char *pw_work_buffer_name(const struct pw_work_buffer *buffer, char *dst, size_t dst_size)
{
    static const char *const names[] = {
        [PW_BUFFER_INPUT] = "input",         [PW_BUFFER_OUTPUT] = "output",  [PW_BUFFER_SCRATCH] = "scratch",
        [PW_BUFFER_PACKED] = "packed input", [PW_BUFFER_INTS] = "int array", [PW_BUFFER_FOUND] = "found size",
    };
    const char *name = (size_t)buffer->kind < sizeof names / sizeof *names ? names[buffer->kind] : "buffer";
    snprintf(dst, dst_size, "%s %d", name, buffer->index);
    return dst;
}

void pw_work_write_library(struct pw_buf *out, const struct pw_work *work)
{
    pw_wire_text(out, work->library_op);
    pw_wire_text(out, work->library_domain);
    pw_wire_text(out, work->library_attributes);
    pw_wire_u32(out, (uint32_t)work->library_opset);
    pw_wire_u64(out, work->library_seed);
    pw_wire_u32(out, (uint32_t)work->library_inputs);
    pw_wire_u32(out, (uint32_t)work->library_outputs);
    for (size_t i = 0; i < work->library_inputs + work->library_outputs; i++) {
        const struct pw_work_tensor *t = &work->tensors[i];
        pw_wire_u32(out, (uint32_t)t->buffer);
        pw_wire_u32(out, (uint32_t)t->dtype);
        pw_wire_u32(out, (uint32_t)t->rank);
        pw_wire_bytes(out, t->dims, sizeof t->dims);
    }
}

pw_status pw_work_key(const struct pw_plan_program *program, struct pw_hash128 *key, struct pw_error *err)
{
    struct pw_hasher hasher;
    if (pw_hasher_init(&hasher) != 0)
        return pw_error_memory(err, sizeof hasher);
    /* With their NULs, so that no two triples run together alike. */
    pw_hasher_add(&hasher, program->language, strlen(program->language) + 1);
    pw_hasher_add(&hasher, program->options, strlen(program->options) + 1);
    pw_hasher_add(&hasher, program->source, strlen(program->source) + 1);
    *key = pw_hasher_end(&hasher);
    return PW_OK;
}

void pw_work_write(struct pw_buf *out, const struct pw_work *work)
{
    pw_wire_u32(out, (uint32_t)work->repeats);
    pw_wire_u64(out, (uint64_t)work->min_time_ns);
    pw_wire_u64(out, work->flush_bytes);
    pw_wire_u32(out, work->exact);
    pw_wire_u32(out, work->unwritten);
    pw_wire_u32(out, work->paced);
    pw_wire_u32(out, (uint32_t)work->buffer_count);
    for (size_t i = 0; i < work->buffer_count; i++) {
        const struct pw_work_buffer *b = &work->buffers[i];
        pw_wire_u32(out, (uint32_t)b->kind);
        pw_wire_u32(out, (uint32_t)b->index);
        pw_wire_u32(out, (uint32_t)b->region);
        write_slot(out, &b->slot);
        pw_wire_u64(out, b->size);
        pw_wire_u32(out, b->keep);
        pw_wire_u64(out, b->hash.high);
        pw_wire_u64(out, b->hash.low);
        pw_wire_u32(out, (uint32_t)b->alternate);
    }
    pw_wire_u32(out, work->known);
    pw_wire_u32(out, (uint32_t)work->program_count);
    for (size_t i = 0; i < work->program_count; i++) {
        if (work->known) {
            pw_wire_u64(out, work->keys[i].high);
            pw_wire_u64(out, work->keys[i].low);
            continue;
        }
        pw_wire_text(out, work->programs[i].language);
        pw_wire_text(out, work->programs[i].source);
        pw_wire_text(out, work->programs[i].options);
    }
    pw_wire_u32(out, (uint32_t)work->launch_count);
    for (size_t i = 0; i < work->launch_count; i++)
        write_launch(out, &work->launches[i]);
    pw_wire_u32(out, work->library_op != NULL);
    if (work->library_op)
        pw_work_write_library(out, work);
}

/* An array of count zeroed items; at least one, so that NULL always means no memory. */
static void *items(struct pw_arena *arena, size_t count, size_t size)
{
    return pw_arena_alloc(arena, count > 0 ? count : 1, size);
}

static void read_buffer(struct pw_wire *wire, size_t count, struct pw_work_buffer *b)
{
    b->kind = (pw_buffer_kind)pw_wire_read_u32(wire);
    b->index = (int)pw_wire_read_u32(wire);
    b->region = (pw_region)pw_wire_read_u32(wire);
    b->slot.offset = pw_wire_read_u64(wire);
    b->slot.pages = pw_wire_read_u64(wire);
    b->slot.front = pw_wire_read_u64(wire);
    b->slot.size = pw_wire_read_u64(wire);
    b->size = pw_wire_read_u64(wire);
    b->keep = pw_wire_read_u32(wire) != 0;
    b->hash.high = pw_wire_read_u64(wire);
    b->hash.low = pw_wire_read_u64(wire);
    b->alternate = (int)pw_wire_read_u32(wire);
    if (b->alternate < -1 || b->alternate >= (int64_t)count || b->region > PW_REGION_PACKED ||
        b->slot.front > b->slot.pages ||
        (b->region != PW_REGION_PACKED && b->slot.size > b->slot.pages - b->slot.front))
        wire->bad = true;
}

static pw_status read_launch(struct pw_wire *wire, struct pw_arena *arena, const struct pw_work *work,
                             struct pw_plan_launch *launch, struct pw_error *err)
{
    launch->program = (int)pw_wire_read_u32(wire);
    launch->entry = pw_wire_read_text(wire);
    launch->work_dim = (int)pw_wire_read_u32(wire);
    pw_wire_read_bytes(wire, launch->global, sizeof launch->global);
    pw_wire_read_bytes(wire, launch->local, sizeof launch->local);
    launch->pack = pw_wire_read_u32(wire) != 0;
    launch->arg_count = pw_wire_read_count(wire, 24);
    struct pw_plan_arg *args = items(arena, launch->arg_count, sizeof *args);
    if (!args)
        return pw_error_memory(err, launch->arg_count * sizeof *args);
    launch->args = args;
    for (size_t i = 0; i < launch->arg_count; i++) {
        uint32_t kind = pw_wire_read_u32(wire);
        args[i].buffer = (int)pw_wire_read_u32(wire);
        args[i].i = (int64_t)pw_wire_read_u64(wire);
        args[i].f = pw_wire_read_f64(wire);
        if (kind > PW_ARG_DOUBLE ||
            (kind == PW_ARG_BUFFER && (args[i].buffer < 0 || (size_t)args[i].buffer >= work->buffer_count)))
            wire->bad = true;
        else
            args[i].kind = kind;
    }
    if (launch->program < 0 || (size_t)launch->program >= work->program_count || launch->work_dim < 1 ||
        launch->work_dim > 3)
        wire->bad = true;
    return PW_OK;
}

pw_status pw_work_read_library(struct pw_wire *wire, struct pw_arena *arena, struct pw_work *out, struct pw_error *err)
{
    out->library_op = pw_wire_read_text(wire);
    out->library_domain = pw_wire_read_text(wire);
    out->library_attributes = pw_wire_read_text(wire);
    out->library_opset = (int)pw_wire_read_u32(wire);
    out->library_seed = pw_wire_read_u64(wire);
    out->library_inputs = pw_wire_read_u32(wire);
    out->library_outputs = pw_wire_read_u32(wire);
    if (out->library_inputs > WORK_MAX_ITEMS || out->library_outputs > WORK_MAX_ITEMS)
        wire->bad = true;
    size_t count = wire->bad ? 0 : out->library_inputs + out->library_outputs;
    out->tensors = items(arena, count, sizeof *out->tensors);
    if (!out->tensors)
        return pw_error_memory(err, count * sizeof *out->tensors);
    for (size_t i = 0; i < count; i++) {
        struct pw_work_tensor *t = &out->tensors[i];
        t->buffer = (int)pw_wire_read_u32(wire);
        t->dtype = (int)pw_wire_read_u32(wire);
        t->rank = (int)pw_wire_read_u32(wire);
        pw_wire_read_bytes(wire, t->dims, sizeof t->dims);
        if (t->rank < 0 || t->rank > PW_MAX_RANK)
            wire->bad = true;
    }
    if (wire->bad)
        return pw_error_set(err, PW_ERR_FORMAT, "malformed library call");
    return PW_OK;
}

static pw_status read_programs(struct pw_wire *wire, struct pw_arena *arena, struct pw_work *out, struct pw_error *err)
{
    out->known = pw_wire_read_u32(wire) != 0;
    out->program_count = pw_wire_read_count(wire, 15);
    out->programs = items(arena, out->program_count, sizeof *out->programs);
    out->keys = items(arena, out->program_count, sizeof *out->keys);
    if (!out->programs || !out->keys)
        return pw_error_memory(err, out->program_count * sizeof *out->programs);
    for (size_t i = 0; i < out->program_count; i++) {
        if (out->known) {
            out->keys[i].high = pw_wire_read_u64(wire);
            out->keys[i].low = pw_wire_read_u64(wire);
            continue;
        }
        out->programs[i].language = pw_wire_read_text(wire);
        out->programs[i].source = pw_wire_read_text(wire);
        out->programs[i].options = pw_wire_read_text(wire);
    }
    return PW_OK;
}

pw_status pw_work_read(const void *data, size_t size, struct pw_arena *arena, struct pw_work *out, struct pw_error *err)
{
    struct pw_wire wire = {.data = data, .size = size};
    pw_status status = PW_OK;
    memset(out, 0, sizeof *out);
    out->repeats = (int)pw_wire_read_u32(&wire);
    out->min_time_ns = (int64_t)pw_wire_read_u64(&wire);
    out->flush_bytes = pw_wire_read_u64(&wire);
    out->exact = pw_wire_read_u32(&wire) != 0;
    out->unwritten = pw_wire_read_u32(&wire) != 0;
    out->paced = pw_wire_read_u32(&wire) != 0;
    out->buffer_count = pw_wire_read_count(&wire, 76);
    out->buffers = items(arena, out->buffer_count, sizeof *out->buffers);
    if (!out->buffers)
        return pw_error_memory(err, out->buffer_count * sizeof *out->buffers);
    for (size_t i = 0; i < out->buffer_count; i++)
        read_buffer(&wire, out->buffer_count, &out->buffers[i]);
    status = read_programs(&wire, arena, out, err);
    if (status != PW_OK)
        return status;
    out->launch_count = pw_wire_read_count(&wire, 69);
    out->launches = items(arena, out->launch_count, sizeof *out->launches);
    if (!out->launches)
        return pw_error_memory(err, out->launch_count * sizeof *out->launches);
    for (size_t i = 0; i < out->launch_count && status == PW_OK; i++)
        status = read_launch(&wire, arena, out, &out->launches[i], err);
    if (status == PW_OK && pw_wire_read_u32(&wire) != 0)
        status = pw_work_read_library(&wire, arena, out, err);
    if (status == PW_OK && (wire.bad || out->repeats < 0 || out->repeats > PW_PROTO_SAMPLES_MAX))
        status = pw_error_set(err, PW_ERR_FORMAT, "malformed request");
    return status;
}
