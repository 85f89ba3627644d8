# A printed value reads back exactly, including minus zero, unlike `-0` in a module of XLA.
# stdout: f32[2] {-0, -1}
# stdout: f32[2] {-0, -1}
printf 'HloModule a\nENTRY e { ROOT x = f32[2] parameter(0) }\n' >a.hlo
$HLO run a.hlo 'f32[2] {-0, -1}' >one.txt
cat one.txt
$HLO run a.hlo @one.txt
