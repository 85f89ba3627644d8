# Names longer than file names may be, invalid values, invalid UTF-8, and a full disk.
# stdout: 0001.n 209
# stderr: argument 'x':1:8: error: expected a value, got 'ENTRY'
# stderr: v.txt:2:3: error: expected a value, ',' or '}', got 'y'
# stderr: bytes.hlo:1:1: error: unexpected character '?' (0x7f)
# stderr: ?ELF??a
# stderr: hlo: error: cannot write to standard output: No space left on device
# status: 2
name=$(printf 'n%.0s' $(seq 300))
printf 'ENTRY e { x = f32[2] parameter(0)  ROOT %s = f32[2] negate(x) }\n' $name >m.hlo
$HLO run m.hlo '{1, 2}' --dump=d >/dev/null
file=$(ls d | grep ^0001); echo "$(echo "$file" | cut -c1-6) ${#file}"
$HLO run m.hlo 'ENTRY e'
printf '{1,\n 2y}' >v.txt
$HLO run m.hlo @v.txt
printf '\177ELF\001\320a\n' >bytes.hlo
$HLO run bytes.hlo
$HLO ls m.hlo >/dev/full
