# A missing file in a directory is reported with the names that were tried.
# status: 2
# stderr: d: error: no array for parameter 'p': tried 'arg0.npy', 'arg0.bin', 'p.npy', 'p.bin'
printf 'HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
mkdir d
$HLO run a.hlo --inputs=d
