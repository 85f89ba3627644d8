/*
 * What the files that know protobuf-c share: safe unpacking of messages, and literals made of
 * tensors.
 */
#ifndef HLO_ONNX_PROTOBUF_H
#define HLO_ONNX_PROTOBUF_H

#include "onnx/onnx.h"
#include "onnx/onnx.pb-c.h"

/* ---- wire.c ---- */

/* Unpacks the protobuf message in `bytes`; NULL with an error. A file that nests too deep, or whose
 * message would take many times its size in memory, is refused beforehand. Free with wire_free. */
ProtobufCMessage *wire_unpack(const ProtobufCMessageDescriptor *d, struct str bytes,
                              const char *path, hlo_messages *m);
void wire_free(ProtobufCMessage *message);

/* ---- tensor.c ---- */

/* The value of a tensor, which messages call `who`. Data that are not in the file `path` itself are
 * in a file of its folder. */
bool tensor_read(const Onnx__TensorProto *t, const char *path, struct str who,
                 struct onnx_value *out, hlo_messages *m);

#endif
