# Large arrays are memory-mapped and not modified; tensors may have any alignment.
# stdout: s32[] 100000
# stdout: s32[] 100000
# stdout: s32[] 100000
# stdout: s32[] 100000
cat >ones.hlo <<'X'
HloModule ones
ENTRY e {
  one = s32[] constant(1)
  ROOT r = s32[100000] broadcast(one), dimensions={}
}
X
cat >a.hlo <<'X'
HloModule a
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}
ENTRY e {
  p = s32[100000] parameter(0)
  q = s8[] parameter(1)
  zero = s32[] constant(0)
  minus = s32[100000] negate(p)
  sum = s32[] reduce(minus, zero), dimensions={0}, to_apply=add
  ROOT r = s32[] negate(sum)
}
X
$HLO run ones.hlo --output=w.npy || exit 1
tail -c 400000 w.npy >w.bin
cksum w.npy w.bin >before
$HLO run a.hlo p=@w.npy q=1 && $HLO run a.hlo p=@w.bin q=1 || exit 1
header='{"q": {"dtype": "I8", "shape": [], "data_offsets": [0, 1]}, "p": {"dtype": "I32", "shape": [100000], "data_offsets": [1, 400001]}}'
{
    printf "\\$(printf %o ${#header})\000\000\000\000\000\000\000%s" "$header"
    printf '\007'
    cat w.bin
} >x.safetensors
$HLO run a.hlo --inputs=x.safetensors || exit 1
cksum w.npy w.bin | cmp - before || exit 1
$HLO run a.hlo @w.npy 2
