# --seed selects the numbers of rng: the same for the same seed, also in traced and plain runs; default 1.
# stdout: default is 1
# stdout: 2 differs
# stdout: plain agrees
# stdout: traced agrees
# stdout: served agrees
cat >r.hlo <<'END'
HloModule m
ENTRY e {
  l = f32[] constant(0)
  h = f32[] constant(1)
  ROOT r = f32[9] rng(l, h), distribution=rng_uniform
}
END
one=$("$HLO" run r.hlo)
two=$("$HLO" run r.hlo --seed=2)
[ "$one" = "$("$HLO" run r.hlo --seed=1)" ] && echo default is 1
[ "$one" != "$two" ] && echo 2 differs
[ "$two" = "$("$HLO" run r.hlo --seed=2 --plain)" ] && echo plain agrees
[ "$two" = "$("$HLO" run r.hlo --seed=2 --trace=none)" ] && echo traced agrees
answer=$(echo '{"op":"run","file":"r.hlo","options":{"seed":2}}' | "$HLO" serve --stdio)
case $answer in *"$two"*) echo served agrees ;; *) echo "$answer" ;; esac
