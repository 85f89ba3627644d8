# names, indices and iterations that there are not
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stderr: <element>: error: 'totl[0,0]': there is no instruction 'totl'; is it 'total'?
# stderr: <element>: error: 'total[2,0]': index 2 is out of bounds: dimension 0 has 2 elements
# stderr: <element>: error: 'total[0]': 1 index, f32[2,3] has 2 dimensions
# stderr: <element>: error: 'total[0,x]': 'x' is no index
# stderr: <element>: error: 'total[0,0': NAME[I,J], NAME@ITERATION[I,J] and, of a tuple, NAME[COMPONENT][I,J] are read
# stderr: <element>: error: 'total@1[0,0]': it was not done in that iteration of a loop
# stderr: <element>: error: 'total@[0,0]': behind @ stands an iteration from 0, or @OUTER.INNER of loops within loops
# stderr: <element>: error: 'total': which element? There is no NaN and no infinity in it; [I,J,...] of f32[2,3] is wanted
# stderr: <element>: error: 't': it gives a tuple of 2: NAME[COMPONENT][I,J]
# stderr: <element>: error: 't[2][0,0]': it gives a tuple of 2, of which [0] is the first
# stderr: <element>: error: 'none[0]': index 0 is out of bounds: dimension 0 has 0 elements
# stderr: hlo: error: no element given: NAME[I,J]
# stderr: hlo: error: no file given
# stderr: hlo: error: missing argument for parameter 0, 'x', of shape f32[2,3]; --fake or --random generates one
cat >m.hlo <<'END'
ENTRY e {
  x = f32[2,3] parameter(0)
  total = f32[2,3] add(x, x)
  none = f32[0] constant({})
  ROOT t = (f32[2,3], f32[2,3]) tuple(total, x)
}
END
for name in 'totl[0,0]' 'total[2,0]' 'total[0]' 'total[0,x]' 'total[0,0' 'total@1[0,0]' 'total@[0,0]' total t 't[2][0,0]' 'none[0]'; do
    $HLO why m.hlo "$name" --random=1
    echo $?
done
$HLO why m.hlo
$HLO why
$HLO why m.hlo 'total[0,0]'
echo $?
