# A LiteralProto is an argument or an expected result wherever an array file is: in text or binary format, compressed or not, of any type, in any layout, with dynamic sizes.
# needs: proto
# stdout: pred[3] {1, 0, 1}
# stdout: s1[2] {-1, 0}
# stdout: u1[2] {1, 0}
# stdout: s2[2] {-1, 1}
# stdout: u2[2] {3, 1}
# stdout: s4[3] {1, -2, 3}
# stdout: u4[2] {1, 15}
# stdout: s8[2] {-1, 1}
# stdout: u8[2] {255, 1}
# stdout: s16[2] {-2, 1}
# stdout: u16[2] {65534, 1}
# stdout: s32[2] {-1, 7}
# stdout: u32[1] {4294967295}
# stdout: s64[2] {-1, 7}
# stdout: u64[1] {18446744073709551615}
# stdout: f16[1] {1}
# stdout: bf16[1] {1}
# stdout: f32[2] {1.5, -inf}
# stdout: f64[2] {0.1, nan}
# stdout: c64[1] {(1, 2)}
# stdout: c128[1] {(1, 2)}
# stdout: f8e5m2[1] {1}
# stdout: f8e4m3[1] {1}
# stdout: f8e4m3fn[1] {1}
# stdout: f8e4m3b11fnuz[1] {1}
# stdout: f8e3m4[1] {1}
# stdout: f8e5m2fnuz[1] {1}
# stdout: f8e4m3fnuz[1] {1}
# stdout: f8e8m0fnu[1] {1}
# stdout: f4e2m1fn[1] {1}
# stdout: f6e3m2fn[1] {1}
# stdout: f6e2m3fn[1] {1}
# stdout: f32[2,2] { { 1, 3 }, { 2, 4 } }
# stdout: f32[3] {1, 2, 3}
# stdout: f32[0] {}
# stdout: (
# stdout:   f32[2] {1, 2},
# stdout:   s32[] 3
# stdout: )
# stdout: f32[2] {1, 2}
# stdout: y: results agree: 2 elements
# stdout: same: 0
# stdout: other: 1
# stdout: f32[2] {1, 2}
# stdout: f32[2] {1, 2}
# stderr: hlo: y: result differs: element {1} is 2, expected 2.5...
# stderr: y: error: array is f32[2], but parameter 'x' expects f32[3]
# stderr: y: error: array is f32[2], but parameter 'x' expects s32[2]
# stderr: y: error: array is f32[2], but parameter 'x' expects (f32[2], s32[])
# stderr: y:dynamic_sizes[0]: error: malformed protocol buffer: size 5 of a dimension of at most 4
# stderr: y:dynamic_sizes[0]: error: malformed protocol buffer: size 1 of a dimension of 2
# stderr: y:dynamic_sizes: error: malformed protocol buffer: 2 sizes of 1 dimensions
# stderr: y:tuple_literals[1].s32s: error: malformed protocol buffer: expected 1 elements, got fewer
# stderr: y:1:86: error: malformed protocol buffer: expected a number for 'f32s', got 'x'
# stderr: y: error: malformed gzip file: corrupt or truncated
# status: 2
module() { printf 'HloModule m\nENTRY e { ROOT x = %s parameter(0) }\n' "$1" >m.hlo; }
# shape TYPE DIMENSIONS
shape() { printf 'shape { element_type: %s dimensions: [%s] layout { minor_to_major: [%s] } }' "$1" "$2" "$3"; }
# one TYPE COUNT DATA
one() {
    { shape "$(echo "$1" | tr a-z A-Z)" "$2" 0; printf ' %s\n' "$3"; } >y
    module "$1[$2]"
    $HLO run m.hlo @y
}
one pred 3 'preds: [true, false, true]'
one s1 2 's1s: "\001\000"'
one u1 2 'u1s: "\001\000"'
one s2 2 's2s: "\003\001"'
one u2 2 'u2s: "\003\001"'
one s4 3 's4s: "\001\376\003"'
one u4 2 'u4s: "\001\017"'
one s8 2 's8s: "\377\001"'
one u8 2 'u8s: "\377\001"'
one s16 2 's16s: "\376\377\001\000"'
one u16 2 'u16s: "\376\377\001\000"'
one s32 2 's32s: [-1, 7]'
one u32 1 'u32s: 4294967295'
one s64 2 's64s: -1 s64s: 7'
one u64 1 'u64s: 0xffffffffffffffff'
one f16 1 'f16s: "\000<"'
one bf16 1 'bf16s: "\200?"'
one f32 2 'f32s: [1.5, -inf]'
one f64 2 'f64s: [0.1, nan]'
one c64 1 'c64s: [1, 2]'
one c128 1 'c128s: [1, 2]'
one f8e5m2 1 'f8e5m2s: "\x3c"'
one f8e4m3 1 'f8e4m3s: "\x38"'
one f8e4m3fn 1 'f8e4m3fns: "\x38"'
one f8e4m3b11fnuz 1 'f8e4m3b11fnuzs: "\x58"'
one f8e3m4 1 'f8e3m4s: "\x30"'
one f8e5m2fnuz 1 'f8e5m2fnuzs: "\x40"'
one f8e4m3fnuz 1 'f8e4m3fnuzs: "\x40"'
one f8e8m0fnu 1 'f8e8m0fnus: "\x7f"'
one f4e2m1fn 1 'f4e2m1fns: "\x02"'
one f6e3m2fn 1 'f6e3m2fns: "\x0c"'
one f6e2m3fn 1 'f6e2m3fns: "\x08"'
dynamic() { # TYPE BOUNDS ORDER FLAGS SIZES VALUES
    printf 'shape { element_type: F32 dimensions: [%s] layout { minor_to_major: [%s] } is_dynamic_dimension: [%s] } dynamic_sizes: [%s] f32s: [%s]\n' "$2" "$3" "$4" "$5" "$6" >y
    module "$1"
    $HLO run m.hlo x=@y
}
dynamic 'f32[<=2,<=3]' '2, 3' '0, 1' 'true, true' '2, 2' '1, 2, 3, 4, 5, 6'
dynamic 'f32[<=4]' 4 0 true 3 '1, 2, 3, 4'
dynamic 'f32[<=4]' 4 0 true 0 '1, 2, 3, 4'
printf 'shape { element_type: TUPLE tuple_shapes { %s } tuple_shapes { element_type: S32 layout {} } }\n' "$(shape F32 2 0 | sed 's/^shape { //; s/ }$//')" >y
printf 'tuple_literals { %s f32s: [1, 2] } tuple_literals { shape { element_type: S32 layout {} } s32s: 3 }\n' "$(shape F32 2 0)" >>y
cp y tuple
module '(f32[2], s32[])'
$HLO run m.hlo @y
module 'f32[2]'
printf '\012\012\020\013\032\001\002*\003\012\001\000B\010\000\000\200?\000\000\000@' >y
$HLO run m.hlo x=@y
gzip -c y >y.gz
$HLO run m.hlo @y.gz --expect=y; echo same: $?
printf '\012\012\020\013\032\001\002*\003\012\001\000E\000\000\200?E\000\000 @' >y
$HLO run m.hlo @y.gz --expect=y; echo other: $?
mkdir d; gzip -dc y.gz >d/arg0.pb
$HLO run m.hlo --inputs=d
$HLO run m.hlo --inputs=y.gz
module 'f32[3]'; $HLO run m.hlo @y
module 's32[2]'; $HLO run m.hlo @y
module '(f32[2], s32[])'; $HLO run m.hlo @y
dynamic 'f32[<=4]' 4 0 true 5 '1, 2, 3, 4'
dynamic 'f32[2]' 2 0 false 1 '1, 2'
dynamic 'f32[<=4]' 4 0 true '1, 1' '1, 2, 3, 4'
sed 's/s32s: 3//' tuple >y
module '(f32[2], s32[])'
$HLO run m.hlo @y
{ shape F32 2 0; printf ' f32s: [1, x]\n'; } >y
module 'f32[2]'
$HLO run m.hlo @y
head -c 20 y.gz >y
$HLO run m.hlo @y
