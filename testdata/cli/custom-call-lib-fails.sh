# Failures of library functions are reported at the location of the call
# status: 0
# stdout: 8 passed, 0 failed, 0 skipped
# stderr: nowhere.so: error: ...
# stderr: unknown custom-call target 'data_of_the_library'; load it with --custom-call-lib=LIB.so, or replace its results with --custom-call 'data_of_the_library=zeros'
# stderr: unknown custom-call target 'free'; load it with --custom-call-lib=LIB.so, or replace its results with --custom-call 'free=zeros'
cat >calls.hlo <<'END'
// test: eval
// from: hand
// error: 9:3: custom call 'divide' failed: division by zero
HloModule failure

ENTRY main {
  x = f32[] constant(5)
  y = f32[] constant(0)
  ROOT q = f32[] custom-call(x, y), custom_call_target="divide", api_version=API_VERSION_STATUS_RETURNING
}
// -----
// test: eval
// from: hand
// error: 18:3: custom call 'repeat' failed: once
HloModule text

ENTRY main {
  ROOT q = s32[3] custom-call(), custom_call_target="repeat", api_version=API_VERSION_STATUS_RETURNING_UNIFIED, backend_config="once"
}
// -----
// test: eval
// from: hand
// error: 27:3: custom call 'too_far' failed: out-of-bounds write to leaf 0 of its result, s32[2]
HloModule overrun

ENTRY main {
  ROOT q = s32[2] custom-call(), custom_call_target="too_far"
}
// -----
// test: eval
// from: hand
// error: 37:3: custom call 'scale' failed: scale expects f32 of rank 1
HloModule typed

ENTRY main {
  x = f64[2] constant({1, 2})
  ROOT q = f64[2] custom-call(x), custom_call_target="scale", api_version=API_VERSION_TYPED_FFI
}
// -----
// test: eval
// from: hand
// error: 47:3: custom call 'scale' failed: too late
HloModule late

ENTRY main {
  x = f32[2] constant({1, 2})
  ROOT q = f32[2] custom-call(x), custom_call_target="scale", api_version=API_VERSION_TYPED_FFI, backend_config={factor = 1.0 : f32, mode = "async"}
}
// -----
// test: eval
// from: hand
// error: 57:3: custom call 'scale' failed: backend_config: expected a numeric type at 'f31}'
HloModule config

ENTRY main {
  x = f32[2] constant({1, 2})
  ROOT q = f32[2] custom-call(x), custom_call_target="scale", api_version=API_VERSION_TYPED_FFI, backend_config={factor = 1.0 : f31}
}
// -----
// test: eval
// from: hand
// error: 67:3: custom call 'scale' failed: typed FFI does not support f6e2m3fn
HloModule dtype

ENTRY main {
  x = f6e2m3fn[2] constant({1, 2})
  ROOT q = f32[2] custom-call(x), custom_call_target="scale", api_version=API_VERSION_TYPED_FFI
}
// -----
// test: eval
// from: hand
// in x: f32[<=4] {1, 2}
// error: 78:3: custom call 'myfunc' failed: operand leaf 0 is smaller than its bound
HloModule sizes

ENTRY main {
  x = f32[<=4] parameter(0)
  ROOT q = f32[3,3] custom-call(x), custom_call_target="myfunc"
}
END
"$HLO" run --custom-call-lib=nowhere.so calls.hlo
echo 'ENTRY e { ROOT r = s32[] custom-call(), custom_call_target="data_of_the_library" }' >data.hlo
"$HLO" run --custom-call-lib="$LIB" data.hlo
echo 'ENTRY e { ROOT r = s32[] custom-call(), custom_call_target="free" }' >free.hlo
"$HLO" run --custom-call-lib="$LIB" free.hlo
"$HLO" test --custom-call-lib="$LIB" calls.hlo
