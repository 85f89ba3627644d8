/*
 * Fourier transforms. spec: Fft
 */
#include "eval/eval_priv.h"

static bool run(struct eval *ev, const struct view *out, const struct view *x, enum kern_fft type,
                int count)
{
    if (eval_reports_choices(ev)) {
        size_t workspace;
        const char *choice = kern_fft_choice(ev->workers, out, x, type, count, &workspace);
        dry_run_report_choice(ev, choice, workspace);
    }
    return EVAL_TRY(ev, fft, ev->workers, &ev->state->transforms, out, x, type, count);
}

/* The dimensions of v with the lengths in place of the last ones; `half`: of half a spectrum.
 * Whether they are those of v. */
static bool full_dims(int64_t *dims, const struct view *v, struct ints lengths, bool half)
{
    const int first = v->rank - (int)lengths.count;
    for (int d = 0; d < v->rank; d++) {
        const int64_t n = d < first ? v->dims[d] : lengths.at[d - first];
        dims[d] = half && d == v->rank - 1 && n > 0 ? n / 2 + 1 : n;
    }
    return memcmp(dims, v->dims, (size_t)v->rank * sizeof *dims) == 0;
}

/* Truncates x, or extends it by zeros, to the dimensions of `out`. */
static void fit(struct eval *ev, const struct view *out, const struct view *x)
{
    static const struct c128 zero;
    struct kern_pad_dim dims[VIEW_MAX_RANK] = {{0}};
    for (int d = 0; d < x->rank; d++)
        dims[d].high = out->dims[d] - x->dims[d];
    EVAL_RUN(ev, pad, ev->workers, out, x, &zero, dims);
}

/* The verifier compares the lengths of real transforms alone with the dimensions. Otherwise, as in
 * XLA's HloEvaluator, the operand is truncated or extended by zeros to the lengths, and so is the
 * result to its dimensions. */
static bool run_fitted(struct eval *ev, const struct view *out, const struct view *x,
                       enum kern_fft type, struct ints lengths)
{
    int64_t x_dims[VIEW_MAX_RANK], dims[VIEW_MAX_RANK];
    const int count = (int)lengths.count;
    const bool same = full_dims(x_dims, x, lengths, type == KERN_IRFFT);
    if (full_dims(dims, out, lengths, type == KERN_RFFT) && same)
        return run(ev, out, x, type, count);
    struct value from = {0}, to = {0};
    bool ok = value_new(ev, &from, x->dtype, x->rank, x_dims) &&
              value_new(ev, &to, out->dtype, out->rank, dims);
    if (ok)
        fit(ev, &from.view, x);
    ok = ok && run(ev, &to.view, &from.view, type, count);
    if (ok)
        fit(ev, out, &to.view);
    value_drop(ev, &from);
    value_drop(ev, &to);
    return ok;
}

/* spec: Fft */
bool eval_fft(struct eval *ev, const struct step *s)
{
    static const enum kern_fft types[] = {
        [E_FFT_TYPE_FFT] = KERN_FFT,
        [E_FFT_TYPE_IFFT] = KERN_IFFT,
        [E_FFT_TYPE_RFFT] = KERN_RFFT,
        [E_FFT_TYPE_IRFFT] = KERN_IRFFT,
    };
    const enum kern_fft type = types[inst_enum(s->inst, A_FFT_TYPE, 0)];
    const struct ints lengths = inst_ints(s->inst, A_FFT_LENGTH);
    for (int64_t k = 0; k < lengths.count; k++)
        if (lengths.at[k] < 0)
            return EVAL_FAIL(ev, s, UNSUPPORTED, "fft", "negative lengths");
    const struct view *out = eval_result(ev, s, 0);
    return out && (run_fitted(ev, out, eval_view(ev, s, 0), type, lengths) ||
                   eval_no_memory(ev, s, s->shapes[0]));
}
