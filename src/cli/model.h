/*
 * ONNX models on the command line: values of inputs, runs, results.
 */
#ifndef HLO_CLI_MODEL_H
#define HLO_CLI_MODEL_H

#include "cli/cli.h"

/* Inputs of a run: a value for each input of the model. */
struct model_inputs {
    const struct options *o;
    hlo_messages *m;
    const hlo_onnx *model;
    size_t count;
    hlo_onnx_value **values; /* NULL: not given yet */
    struct arena arena;
    size_t next; /* input of the next argument without a name */
};

/* ---- model_inputs.c ---- */

/* Initializes the remaining members; `o`, `m` and `model` must be set. */
void model_inputs_begin(struct model_inputs *in);
/* Reads the values from the operands after the file and from --inputs. HLO_OK, or a status with
 * messages. */
int model_inputs_collect(struct model_inputs *in);
/* Reads input_0.pb, input_1.pb, ... of a directory. False with messages. */
bool model_inputs_read(struct model_inputs *in, const char *directory);
void model_inputs_free(struct model_inputs *in);

/* ---- model_run.c ---- */

/* Imports the model for these inputs and runs it. With `bound` 0, a bound is chosen, and a run that
 * exceeds it is repeated with a larger one. Returns the outputs, to be freed by model_outputs_free,
 * or NULL; sets the status, and the messages of the last run, which the caller frees. */
hlo_onnx_value **model_run(const struct model_inputs *in, int64_t bound,
                           const struct hlo_run_options *options, int *status,
                           hlo_messages **messages);
void model_outputs_free(hlo_onnx_value **outputs, size_t count);
size_t model_output_count(const hlo_onnx *model);
/* hlo run of a model, with the options of runs. */
int model_command(const struct options *o, const struct hlo_run_options *options);

/* ---- model_test.c ---- */

/* Whether PATH is DIR/test_data_set_N with a DIR/model.onnx, the form of ONNX node tests. */
bool model_is_data_set(const char *path);
/* Runs the model on such a set. Failures are written to `why`. */
void model_test(const struct options *o, const char *data_set, struct buf *why);

#endif
