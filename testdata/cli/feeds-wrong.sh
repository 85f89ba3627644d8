# An empty infeed, a line that is not a literal, unused items.
# status: 4
# stderr: 'infeed': no more items in the feed of the host
# stderr: -: error: line 1 is not a literal
# stderr: hlo: warning: 1 outfeed item(s) discarded; use --outfeed=FILE to keep them
# stderr: cannot read 'none.txt': No such file or directory
cp "$HERE/doubler.hlo" m.hlo
printf '// a comment\n\nf32[2,2] {{1, 2}, {3, 4}}\n' >items.txt
$HLO run m.hlo --infeed=none.txt
$HLO run m.hlo --infeed=items.txt >result.txt
echo 'f32[2,2] {{5, 5}' | $HLO run m.hlo --infeed=-
$HLO run m.hlo
