# Input on which LAPACK would write to standard output, or not terminate: matrices without rows, invalid row counts, infinities.
# stdout: s32[5] {2, 4, 5, 1, 3}
# stdout: s32[] -2
# stdout: (
# stdout:   f32[2] {nan, nan},
# stdout:   s32[] -4
# stdout: )
# stdout: f32[3,0] { {}, {}, {} }
# stdout: f32[0,3] {  }
module() { # LINES SHAPE OPERANDS TARGET CONFIG LINES
    printf 'ENTRY e {\n%s  t = %s custom-call(%s), custom_call_target="%s", api_version=API_VERSION_TYPED_FFI, backend_config={%s}\n%s}\n' \
        "$1" "$2" "$3" "$4" "$5" "$6"
}
module '  a = f64[0,5] parameter(0)
  p = s32[5] constant({0, 1, 0, 1, 1})
' '(f64[0,5], s32[5], f64[0])' 'a, p' lapack_dgeqp3_ffi '' '  ROOT r = s32[5] get-tuple-element(t), index=1
' >m.hlo && $HLO m.hlo --fake
module '  a = f32[2,2] parameter(0)
' '(f32[2,2], f32[1], s32[])' a lapack_sgehrd_ffi 'low = 0, high = 2' '  ROOT r = s32[] get-tuple-element(t), index=2
' >m.hlo && $HLO m.hlo --fake
module '  a = f32[2,2] parameter(0)
' '(f32[2,2], f32[2], f32[2,2], f32[2,2], s32[])' a lapack_sgesvd_ffi 'mode = 65 : ui8' '  s = f32[2] get-tuple-element(t), index=1
  i = s32[] get-tuple-element(t), index=4
  ROOT r = (f32[2], s32[]) tuple(s, i)
' >m.hlo && timeout 20 $HLO m.hlo '{{inf, 1}, {-inf, nan}}'
module '  a = f32[3,3] parameter(0)
  tau = f32[2] parameter(1)
  c = f32[3,0] parameter(2)
' 'f32[3,0]' 'a, tau, c' lapack_sormqr_ffi 'left = true, transpose = false' '  ROOT r = f32[3,0] copy(t)
' >m.hlo && $HLO m.hlo --fake
module '  a = f32[0,3] parameter(0)
  tau = f32[0] parameter(1)
' 'f32[0,3]' 'a, tau' lapack_sorgqr_ffi '' '  ROOT r = f32[0,3] copy(t)
' >m.hlo && $HLO m.hlo --fake
