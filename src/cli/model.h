/*
 * Models of ONNX on the command line: the values of their inputs, the run, the results.
 */
#ifndef HLO_CLI_MODEL_H
#define HLO_CLI_MODEL_H

#include "cli/cli.h"

/* What a model is given: a value for each of its inputs. */
struct model_inputs {
    const struct options *o;
    hlo_messages *m;
    const hlo_onnx *model;
    size_t count;
    hlo_onnx_value **values; /* NULL: none yet */
    struct arena arena;
    size_t next;             /* the next input that an argument without a name is for */
};

/* ---- model_inputs.c ---- */

/* Of `o`, `m` and `model` makes the rest. */
void model_inputs_begin(struct model_inputs *in);
/* Takes them from the arguments after the file's name and from --inputs. Says what is wrong; else HLO_OK. */
int model_inputs_collect(struct model_inputs *in);
/* input_0.pb, input_1.pb, ... of a folder. */
bool model_inputs_read(struct model_inputs *in, const char *folder);
void model_inputs_free(struct model_inputs *in);

/* ---- model_run.c ---- */

/* Imports the model for these inputs and runs it; a run that goes beyond a bound that nobody has fixed (0) is
 * made again with a larger one. Outputs, to be freed by model_outputs_free, or NULL; *status and the messages of
 * the run that counts, to be freed by the caller. */
hlo_onnx_value **model_run(const struct model_inputs *in, int64_t bound, const struct hlo_run_options *options, int *status,
                           hlo_messages **said);
void model_outputs_free(hlo_onnx_value **outputs, size_t count);
size_t model_output_count(const hlo_onnx *model);
/* hlo run of a model, with the options of any run. */
int model_command(const struct options *o, const struct hlo_run_options *options);

/* ---- model_test.c ---- */

/* Whether this is DIR/test_data_set_N beside a DIR/model.onnx, as ONNX keeps its node tests. */
bool model_is_data_set(const char *path);
/* Runs the model on such a set. What is wrong goes to `why`. */
void model_test(const struct options *o, const char *data_set, struct buf *why);

#endif
