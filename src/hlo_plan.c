/*
 * The public interface to plans: what a run will do, where values live, and what memory that takes.
 */
#include "hlo_priv.h"

#include "eval/eval.h"

/* That of the first participant which is run here. */
static struct program *program_of(const hlo_program *p)
{
    for (size_t k = 0; k < p->count; k++)
        if (p->programs[k])
            return p->programs[k];
    return NULL;
}

static uint64_t bytes_of(const struct shape *const *shapes, int count)
{
    int64_t sum = 0, bytes;
    for (int k = 0; k < count; k++)
        if (shape_is_array(shapes[k]) && (!shape_bytes(shapes[k], &bytes) || !add_i64(sum, bytes, &sum)))
            return UINT64_MAX;
    return (uint64_t)sum;
}

static uint64_t constant_bytes(const struct program *p)
{
    uint64_t sum = 0;
    for (int k = 0; k < p->constant_count; k++)
        sum += (uint64_t)view_elements(&p->constants[k]) * dtype_bytes(p->constants[k].dtype);
    return sum;
}

struct hlo_memory hlo_program_memory(const hlo_program *program)
{
    struct program *p = program_of(program);
    if (!p)
        return (struct hlo_memory){0};
    const struct function *f = p->entry;
    const struct foresight *foresight = eval_foresee(p);
    return (struct hlo_memory){
        .arguments = bytes_of(f->param_shapes, f->param_count),
        .results = bytes_of(f->result_shapes, f->result_count),
        .constants = constant_bytes(p),
        .foreseen = foresight->known,
        .exact = foresight->exact,
        .peak = foresight->known ? foresight->peak : 0,
        .measured = p->peak,
    };
}
