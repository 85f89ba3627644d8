/*
 * check.c: small checks that many rules share.
 */
#include "infer/infer_priv.h"

bool check_operand_array(struct infer *ctx, const struct inst *i, int k)
{
    return shape_is_array(operand_shape(i, k)) || report_operand(ctx, i, k, "an array");
}

bool check_operand_arrays(struct infer *ctx, const struct inst *i, int first, int end)
{
    for (int k = first; k < end; k++)
        if (!check_operand_array(ctx, i, k))
            return false;
    return true;
}

bool check_result_array(struct infer *ctx, const struct inst *i)
{
    return shape_is_array(i->shape) ||
           report_inst(ctx, i, NULL, "returns %s, expected an array", report_text(ctx, i->shape));
}

bool check_same_kind(struct infer *ctx, const struct inst *i, int a, int b)
{
    return dtype_same_kind(operand_shape(i, a)->dtype, operand_shape(i, b)->dtype) ||
           report_operand_types(ctx, i, a, b);
}

bool check_same_dims(struct infer *ctx, const struct inst *i, int a, int b)
{
    return shape_same_dims(operand_shape(i, a), operand_shape(i, b)) ||
           report_operands(ctx, i, a, b, "dimensions");
}

bool check_operand_least(struct infer *ctx, const struct inst *i, int min)
{
    return i->operand_count >= min ||
           report_inst(ctx, i, NULL, "has %d operand(s), expected at least %d", i->operand_count,
                       min);
}

bool check_attr_int(struct infer *ctx, const struct inst *i, enum attr_id id, int64_t value,
                    int64_t low, int64_t end)
{
    if (value >= low && (value < end || end == INT64_MAX))
        return true;
    if (low == INT64_MIN)
        return report_attr(ctx, i, id, "%" PRId64 " is not less than %" PRId64, value, end);
    if (end == INT64_MAX)
        return report_attr(ctx, i, id, "%" PRId64 " is less than %" PRId64, value, low);
    return report_attr(ctx, i, id, "%" PRId64 " is not in [%" PRId64 ", %" PRId64 ")", value, low,
                       end);
}

bool check_attr_count(struct infer *ctx, const struct inst *i, enum attr_id id, int64_t count,
                      int64_t expected)
{
    return count == expected ||
           report_attr(ctx, i, id, "%" PRId64 " entries, expected %" PRId64, count, expected);
}

bool check_dim_list(struct infer *ctx, const struct inst *i, enum attr_id id, int64_t end,
                    enum list_rule rule)
{
    struct ints list = inst_ints(i, id);
    bool *seen = ARENA_ARRAY(ctx->arena, bool, end);
    for (int64_t k = 0; k < list.count; k++) {
        if (!check_attr_int(ctx, i, id, list.at[k], 0, end))
            return false;
        if (seen[list.at[k]])
            return report_attr(ctx, i, id, "%" PRId64 " is duplicated", list.at[k]);
        if (rule == LIST_SORTED && k > 0 && list.at[k] < list.at[k - 1])
            return report_attr(ctx, i, id, "not sorted: %" PRId64 " after %" PRId64, list.at[k],
                               list.at[k - 1]);
        seen[list.at[k]] = true;
    }
    return true;
}

bool check_label_ranks(struct infer *ctx, const struct inst *i, const struct dim_labels *labels)
{
    int rank = labels->spatial_count + 2;
    for (int k = 0; k < 2; k++)
        if (operand_shape(i, k)->rank != rank)
            return report_operand(ctx, i, k, "rank %d, as in dim_labels", rank);
    return true;
}

bool check_thread(struct infer *ctx, const struct inst *i, const struct computation *c)
{
    if (ctx->parsing || str_eq(i->parent->execution_thread, c->execution_thread))
        return true;
    return report_computation(ctx, i, c,
                              "runs on thread '" STR_FMT "', but its caller on '" STR_FMT "'",
                              STR_ARG(c->execution_thread), STR_ARG(i->parent->execution_thread));
}

bool infer_same(const struct infer *ctx, const struct shape *a, const struct shape *b)
{
    return ctx->layout_sensitive && !ctx->parsing ? shape_equal(a, b, 0) : shape_compatible(a, b);
}
