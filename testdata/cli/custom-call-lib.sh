# Custom calls to functions of a shared library, with every api_version=
# stdout: 6 passed, 0 failed, 0 skipped
# stdout: f32[3,3] { { 42, 0, 0 }, { 0, 0, 0 }, { 0, 0, 1 } }
# stderr: -
cat >calls.hlo <<'END'
// test: eval
// spec: CustomCall
// from: the example of the specification, in each of its editions: z[0][0] = x[1] + y[1][0]
// out: f32[3,3] {{42, 0, 0}, {0, 0, 0}, {0, 0, 1}}
HloModule original

ENTRY main {
  x = f32[2] constant({1, 2})
  y = f32[2,3] constant({{10, 20, 30}, {40, 50, 60}})
  ROOT z = f32[3,3] custom-call(x, y), custom_call_target="myfunc"
}
// -----
// test: eval
// from: jaxlib 0.10.2: leaves stand in order, whatever the tuples
// in a: f32[] 1.5
// in b: s32[2] {4, 5}
// in c: f64[] 6.25
// out: (f64[] 6.25, (s32[2] {4, 5}, f32[] 1.5))
HloModule tuples

ENTRY main {
  a = f32[] parameter(0)
  b = s32[2] parameter(1)
  c = f64[] parameter(2)
  t = (f32[], s32[2]) tuple(a, b)
  ROOT r = (f64[], (s32[2], f32[])) custom-call(t, c), custom_call_target="swap_pair"
}
// -----
// test: eval
// from: hand
// out: (f32[] 2.5, s32[3] {7, 7, 7})
HloModule status

ENTRY main {
  x = f32[] constant(5)
  y = f32[] constant(2)
  n = s32[] constant(7)
  q = f32[] custom-call(x, y), custom_call_target="divide", api_version=API_VERSION_STATUS_RETURNING
  s = s32[3] custom-call(n), custom_call_target="repeat", api_version=API_VERSION_STATUS_RETURNING_UNIFIED, backend_config="times=3"
  ROOT r = (f32[], s32[3]) tuple(q, s)
}
// -----
// test: eval
// from: jaxlib 0.10.2: elements lie in the order of the layout; of 4-bit ones two share a byte, the first low
// out: (u8[6] {1, 4, 2, 5, 3, 6}, u8[6] {1, 2, 3, 4, 5, 6}, u8[2,3] {{1, 3, 5}, {2, 4, 6}}, (u8[2] {225, 3}, s4[3] {1, -2, 3}), pred[4] {false, true, true, true})
HloModule memory

ENTRY main {
  x = u8[2,3] constant({{1, 2, 3}, {4, 5, 6}})
  n = s4[3] constant({1, -2, 3})
  a = u8[6] custom-call(x), custom_call_target="bytes_of", operand_layout_constraints={u8[2,3]{0,1}}
  b = u8[6] custom-call(x), custom_call_target="bytes_of"
  c = u8[2,3]{0,1} custom-call(x), custom_call_target="bytes_of"
  d = (u8[2], s4[3]) custom-call(n), custom_call_target="nibbles"
  e = pred[4] custom-call(), custom_call_target="wide_pred"
  ROOT r = (u8[6], u8[6], u8[2,3]{0,1}, (u8[2], s4[3]), pred[4]) tuple(a, b, c, d, e)
}
// -----
// test: eval
// from: hand: an output that aliases an operand begins with its bytes; tokens and empty tuples carry nothing
// out: (s32[] 8, s32[] 7)
HloModule aliases

ENTRY main {
  n = s32[] constant(7)
  t = token[] after-all()
  u = token[] custom-call(t, n), custom_call_target="no_results", custom_call_has_side_effect=true
  v = () custom-call(u), custom_call_target="no_results", custom_call_has_side_effect=true
  w = (token[], s32[]) custom-call(u, n), custom_call_target="no_results", output_to_operand_aliasing={{1}: (1, {})}
  m = s32[] custom-call(n), custom_call_target="count_up", output_to_operand_aliasing={{}: (0, {})}
  k = s32[] get-tuple-element(w), index=1
  ROOT r = (s32[], s32[]) tuple(m, k)
}
// -----
// test: eval
// from: hand
// in x: f32[3] {1, 2, 3}
// out: f32[3] {0.5, 3, 5.5}
HloModule typed

ENTRY main {
  x = f32[3] parameter(0)
  ROOT r = f32[3] custom-call(x), custom_call_target="scale", api_version=API_VERSION_TYPED_FFI, backend_config={factor = 2.500000e+00 : f32, shift = array<i64: 1, -3>}
}
END
"$HLO" test --custom-call-lib="$LIB" calls.hlo &&
    "$HLO" run --custom-call-lib "$LIB" --module=1 calls.hlo
