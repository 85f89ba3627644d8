# hlo convert: HLO text, protocol buffers in wire and text format, compressed; the module stays the same in each conversion. Elements are in the order of the layout, those of s4 a byte each.
# needs: proto
# stdout: pb: same
# stdout: name: "m"
# stdout: entry_computation_name: "e"
# stdout: computations {
# stdout:   name: "body"
# stdout:   instructions {
# stdout:     name: "s"
# stdout:     opcode: "parameter"
# stdout:     shape {
# stdout:       element_type: TUPLE
# stdout:       tuple_shapes {
# stdout:         element_type: S32
# stdout:         layout {
# stdout: pbtxt: same
# stdout: text: same
# stdout:       f32s: 1
# stdout:       f32s: -nan
# stdout:       f32s: -2
# stdout:       f32s: inf
# stdout:       f32s: 3
# stdout:       f32s: 9.99995e-41
# stdout:       s4s: "\001\016\007"
# stdout:       u64s: 18446744073709551615
# stdout:       u64s: 3
# stderr: -
cat >m.hlo <<'END'
HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }, frontend_attributes={a="b"}

body {
  s = (s32[], f32[2,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[2,3] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[2,3] multiply(x, x), metadata={op_name="a \"quoted\" name" source_file="f.py" source_line=3}
  ROOT t = (s32[], f32[2,3]) tuple(j, y)
}

cond {
  s = (s32[], f32[2,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2)
  ROOT lt = pred[] compare(i, n), direction=LT
}

ENTRY e {
  x = f32[2,3]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  k = f32[2,3]{0,1} constant({{1, -2, 3}, {-nan, inf, 1e-40}})
  q = s4[3] constant({1, -2, 7})
  w = u64[2] constant({18446744073709551615, 3})
  z = s32[] constant(0)
  t = (s32[], f32[2,3]) tuple(z, x)
  l = (s32[], f32[2,3]) while(t), condition=cond, body=body
  ROOT y = f32[2,3] get-tuple-element(l), index=1
}
END
$HLO convert m.hlo -o m.pb
$HLO fmt m.hlo >text && $HLO fmt m.pb | cmp - text && echo 'pb: same'
$HLO convert m.pb -o m.pbtxt.gz && gzip -dc m.pbtxt.gz | head -n 12
$HLO convert --to=pb m.pbtxt.gz | cmp - m.pb && echo 'pbtxt: same'
$HLO convert m.pb -o n.txt && $HLO convert n.txt -o n.pb.gz && gzip -dc n.pb.gz | cmp - m.pb && echo 'text: same'
$HLO convert m.pb --to=pbtxt | grep -E 'f32s|s4s|u64s'
