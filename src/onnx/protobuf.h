/*
 * Shared by the files that use protobuf-c: safe unpacking of messages, and conversion of tensors to
 * literals.
 */
#ifndef HLO_ONNX_PROTOBUF_H
#define HLO_ONNX_PROTOBUF_H

#include "onnx/onnx.h"
#include "onnx/onnx.pb-c.h"

/* ---- wire.c ---- */

/* Unpacks the protobuf message in `bytes`; NULL with an error. Files that nest too deeply, or whose
 * message would take many times their size in memory, are rejected first. Free with wire_free. */
ProtobufCMessage *wire_unpack(const ProtobufCMessageDescriptor *d, struct str bytes,
                              const char *path, hlo_messages *m);
void wire_free(ProtobufCMessage *message);

/* ---- tensor.c ---- */

/* Reads the value of a tensor, named `who` in messages. External data must be in a file of the
 * directory of `path`. */
bool tensor_read(const Onnx__TensorProto *t, const char *path, struct str who,
                 struct onnx_value *out, hlo_messages *m);

#endif
