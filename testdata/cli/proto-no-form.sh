# What has no form in a protocol buffer is an error, and no file is written: strings that are not UTF-8 or have a NUL, shapes nested too deep, layouts that no reader accepts.
# needs: proto
# stderr: m.hlo:2:11: error: cannot be written as a protocol buffer: a string that is not UTF-8 text
# stderr: m.hlo:2:11: error: cannot be written as a protocol buffer: a string that is not UTF-8 text
# stderr: m.hlo: error: cannot be written as a protocol buffer: messages nested too deep
# stderr: m.hlo:2:11: error: cannot be written as a protocol buffer: a layout that is not a permutation of the dimensions
# status: 2
printf 'HloModule m\nENTRY e { ROOT c = f32[] constant(1), metadata={op_name="\\377"} }\n' >m.hlo
$HLO convert m.hlo -o m.pb
printf 'HloModule m\nENTRY e { ROOT c = f32[] constant(1), metadata={op_name="\\000"} }\n' >m.hlo
$HLO convert m.hlo -o m.pb
s=$(printf '(%.0s' $(seq 100)) t=$(printf ')%.0s' $(seq 100))
printf 'HloModule m\nENTRY e { ROOT c = %sf32[]%s parameter(0) }\n' "$s" "$t" >m.hlo
$HLO convert m.hlo -o m.pb
printf 'HloModule m\nENTRY e { c = f32[2,1]{7,0} iota(), iota_dimension=0 ROOT r = f32[2,1] negate(c) }\n' >m.hlo
$HLO convert m.hlo -o m.pb
test -e m.pb && echo 'file exists'
exit 2
