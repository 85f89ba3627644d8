# Exceeding the file size limit is reported, leaves no partial file, and keeps the previous one.
# stdout: 2 old
# stdout: 2
# stdout: m.hlo
# stdout: o.npz
# stderr: error: cannot write 'o.npz': File too large
# stderr: error: cannot write 'p.txt': File too large
printf 'HloModule m\nENTRY e { x = f32[10000] parameter(0)  ROOT y = f32[10000] negate(x) }\n' >m.hlo
echo old >o.npz
(ulimit -f 8; $HLO run m.hlo --random --output=o.npz; echo "$? $(cat o.npz)")
(ulimit -f 8; $HLO run m.hlo --random --full --output=p.txt; echo $?)
ls
