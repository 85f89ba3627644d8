# run: arguments as literals, bare values, names, files, standard input; FILE without a command is run.
# stdout: f32[2] {11, 22}
# stdout: f32[2] {11, 22}
# stdout: f32[2] {2, 4}
# stdout: f32[2] {3, 5}
# stdout: f32[2] {-1, 0}
# stderr: -
cat >add.hlo <<'X'
HloModule add
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  ROOT r = f32[2] add(x, y)
}
X
cat >scale.hlo <<'X'
HloModule scale
ENTRY e {
  x = f32[2] parameter(0)
  s = f32[] parameter(1)
  b = f32[2] broadcast(s), dimensions={}
  ROOT r = f32[2] add(x, b)
}
X
$HLO run add.hlo 'f32[2] {1, 2}' '{10, 20}'
$HLO run - <add.hlo y='{1, 2}' '{10, 20}'
printf '{1, 2}\n' >one.txt
$HLO add.hlo @one.txt x=@one.txt
$HLO run add.hlo '{1, 2}' '{1, 2}' --output two.npy
$HLO run scale.hlo @two.npy 1
$HLO run scale.hlo '{0, 1}' -1
