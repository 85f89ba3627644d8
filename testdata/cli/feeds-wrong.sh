# An infeed that is empty, a line that is no literal, items that nobody wants.
# status: 4
# stderr: infeed: the host has nothing more to give
# stderr: line 1 is no literal
# stderr: what was given to the host went nowhere (1); --outfeed=FILE keeps it
# stderr: cannot read `none.txt`
cp "$HERE/doubler.hlo" m.hlo
printf '// a comment\n\nf32[2,2] {{1, 2}, {3, 4}}\n' >items.txt
$HLO run m.hlo --infeed=none.txt
$HLO run m.hlo --infeed=items.txt >result.txt
echo 'f32[2,2] {{5, 5}' | $HLO run m.hlo --infeed=-
$HLO run m.hlo
