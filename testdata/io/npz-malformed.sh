# A malformed zip archive is rejected with the reason.
# status: 2
# stderr: x.npz: error: malformed .npz file: missing end of central directory record
printf 'HloModule a\nENTRY e { ROOT p = f32[1] parameter(0) }\n' >a.hlo
printf 'some other file, longer than a zip directory' >x.npz
$HLO run a.hlo --inputs x.npz
