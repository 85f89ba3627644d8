/*
 * The translators referred to by op.def.
 */
#ifndef HLO_ONNX_OPS_H
#define HLO_ONNX_OPS_H

#include "onnx/import_priv.h"

#define OP(name, since, min, max, folds, translate, arg) translator translate;
#include "onnx/op.def"
#undef OP

#endif
