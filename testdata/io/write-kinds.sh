# The suffix of a file determines its format; results are read back; unsupported types are rejected.
# stdout: f32[2] {1.5, -2}
# stdout: 8
# stdout: (
# stdout:   f32[2] {1.5, -2},
# stdout:   (
# stdout:     bf16[] 3,
# stdout:     s32[0] {}
# stdout:   )
# stdout: )
# stdout: out[0] = f32[2] {1, 2}
# stdout: out[1] = f32[2] {3, 4}
# stdout: two in one: 2
# stdout: types without a name: 2
# stdout: several in one: 2
# stdout: as it was
# stderr: t.raw: error: a raw file holds a single array; write an .npz file
# stderr: c.safetensors: error: element type c128 has no safetensors equivalent; write an .npz file
# stderr: p.bin: error: a file of this type cannot hold the results of 2 participants; write an .npz file
cat >one.hlo <<'X'
ENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] copy(x) }
X
cat >two.hlo <<'X'
ENTRY e { out0 = f32[2] parameter(0)  out1 = bf16[] parameter(1)  out2 = s32[0] parameter(2)
 t = (bf16[], s32[0]) tuple(out1, out2)  ROOT r = (f32[2], (bf16[], s32[0])) tuple(out0, t) }
X
printf 'HloModule p, replica_count=2\nENTRY e { out0 = f32[2] parameter(0)  ROOT y = f32[2] copy(out0) }\n' >each.hlo
printf 'ENTRY e { ROOT c = c128[] constant((1, 2)) }\n' >c.hlo
$HLO one.hlo '{1.5, -2}' -o x.bin && $HLO one.hlo @x.bin && wc -c <x.bin
$HLO two.hlo '{1.5, -2}' 3 '{}' -o t.safetensors && $HLO two.hlo --inputs=t.safetensors
$HLO each.hlo out0@0='{1, 2}' out0@1='{3, 4}' -o p.safetensors && $HLO each.hlo --inputs=p.safetensors
$HLO two.hlo '{1.5, -2}' 3 '{}' -o t.raw; echo "two in one: $?"
echo as it was >c.safetensors
$HLO c.hlo -o c.safetensors; echo "types without a name: $?"
$HLO each.hlo out0@0='{1, 2}' out0@1='{3, 4}' -o p.bin; echo "several in one: $?"
cat c.safetensors
