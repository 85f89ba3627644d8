# arrays without elements whose other dimensions are long: as JSON, from files, and explained
# stdout: {"schema":1,"results":[{"participant":0,"shape":"f32[1000000000000,0]","values":[]}]}
# stdout: f32[1000000000000,0] {}
# stdout: f32[1000000000000,0] {}
# stdout: total = 7  reduce f32[]
# stdout:   reduced: x[0:1000000000000,0:0], 0 elements
# stdout:   init: seven = 7  constant f32[]
cat >m.hlo <<'END'
ENTRY e {
  x = f32[1000000000000,0] parameter(0)
  ROOT y = f32[1000000000000,0] negate(x)
}
END
cat >total.hlo <<'END'
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[1000000000000,0] parameter(0)
  seven = f32[] constant(7)
  ROOT total = f32[] reduce(x, seven), dimensions={0,1}, to_apply=add
}
END
"$HLO" run m.hlo --random --json
"$HLO" run m.hlo --random --output=y.npy
"$HLO" run m.hlo @y.npy
"$HLO" run m.hlo '{...}'
"$HLO" why total.hlo total x=@y.npy
