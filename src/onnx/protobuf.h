/*
 * What the files that know protobuf-c share: bytes unpacked with care, and tensors made of messages.
 */
#ifndef HLO_ONNX_PROTOBUF_H
#define HLO_ONNX_PROTOBUF_H

#include "onnx/onnx.h"
#include "onnx/onnx.pb-c.h"

/* ---- wire.c ---- */

/* The message in `bytes`; NULL with a message. A file that nests too deep, or whose message would take many
 * times its size, is refused before it can do harm. Free with wire_free. */
ProtobufCMessage *wire_unpack(const ProtobufCMessageDescriptor *d, struct str bytes, const char *path, hlo_messages *m);
void wire_free(ProtobufCMessage *message);

/* ---- tensor.c ---- */

/* The value of a tensor, which is named `who` in messages; data kept outside the file `path` lie in its folder. */
bool tensor_read(const Onnx__TensorProto *t, const char *path, struct str who, struct onnx_value *out, hlo_messages *m);

#endif
