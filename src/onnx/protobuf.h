/*
 * Shared by the files that use protobuf-c: unpacking of messages, and conversion of tensors to
 * literals.
 */
#ifndef HLO_ONNX_PROTOBUF_H
#define HLO_ONNX_PROTOBUF_H

#include "onnx/onnx.h"
#include "onnx/onnx.pb-c.h"
#include "wire/wire.h"

/* Unpacks a protobuf message with wire_unpack; NULL with an error. Free with wire_free. */
ProtobufCMessage *onnx_unpack(const ProtobufCMessageDescriptor *d, struct str bytes,
                              const char *path, hlo_messages *m);

/* ---- tensor.c ---- */

/* Reads the value of a tensor, named `who` in messages. External data must be in a file of the
 * directory of `path`. */
bool tensor_read(const Onnx__TensorProto *t, const char *path, struct str who,
                 struct onnx_value *out, hlo_messages *m);

#endif
