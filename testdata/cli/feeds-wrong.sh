# An infeed that is empty, a line that is no literal, items that nobody wants.
# status: 4
# stderr: infeed: the host has nothing more to give
# stderr: line 1 is no literal
# stderr: what was given to the host went nowhere (1); --outfeed=FILE keeps it
# stderr: cannot read `none.txt`
cat >m.hlo <<'END'
HloModule m
ENTRY main {
  t = token[] after-all()
  a = (f32[2,2], token[]) infeed(t)
  u = token[] get-tuple-element(a), index=1
  x = f32[2,2] get-tuple-element(a), index=0
  y = f32[2,2] add(x, x)
  o = token[] outfeed(y, u), outfeed_shape=f32[2,2]{1,0}
  ROOT n = f32[2,2] negate(x)
}
END
printf '// a comment\n\nf32[2,2] {{1, 2}, {3, 4}}\n' >items.txt
$HLO run m.hlo --infeed=none.txt
$HLO run m.hlo --infeed=items.txt >result.txt
echo 'f32[2,2] {{5, 5}' | $HLO run m.hlo --infeed=-
$HLO run m.hlo
