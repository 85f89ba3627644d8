# A file in a missing directory cannot be written; no partial file is left.
# status: 2
# stderr: cannot write 'none/x.npz': No such file or directory
printf 'HloModule a\nENTRY e { ROOT p = f32[1] parameter(0) }\n' >a.hlo
$HLO run a.hlo '{1}' --output none/x.npz
