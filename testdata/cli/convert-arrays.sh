# hlo convert writes an array as a LiteralProto, or in another format of arrays.
# needs: proto
# stdout: shape {
# stdout:   element_type: S32
# stdout:   dimensions: 2
# stdout:   dimensions: 2
# stdout:   layout {
# stdout:     minor_to_major: 1
# stdout:     minor_to_major: 0
# stdout:     tail_padding_alignment_in_elements: 1
# stdout:   }
# stdout:   is_dynamic_dimension: false
# stdout:   is_dynamic_dimension: false
# stdout: }
# stdout: s32s: 1
# stdout: s32s: -2
# stdout: s32s: 3
# stdout: s32s: 4
# stdout:  0a 13 10 04 1a 02 02 02 2a 07 0a 02 01 00 80 01
# stdout:  01 32 02 00 00 22 0d 01 fe ff ff ff ff ff ff ff
# stdout:  ff 01 03 04
# stdout: same
# stdout: s32[2,2]{1,0} { { 1, -2 }, { 3, 4 } }
# stderr: -
printf '%s\n' 'HloModule m' 'ENTRY e { ROOT c = s32[2,2] constant({{1, -2}, {3, 4}}) }' | $HLO run - -o x.npy
$HLO convert x.npy --to=pbtxt
$HLO convert x.npy -o x.pb && od -An -tx1 x.pb
$HLO convert x.npy -o y.npy && cmp x.npy y.npy && echo same
$HLO convert x.npy --to=hlo
