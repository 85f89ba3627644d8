# why: names, indices and iterations that do not exist
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
# stdout: 2
# stdout: 2
# stderr: <element>: error: 'totl[0,0]': unknown instruction 'totl'; did you mean 'total'?
# stderr: <element>: error: 'total[2,0]': index 2 is out of bounds: dimension 0 has 2 elements
# stderr: <element>: error: 'total[0]': 1 index, f32[2,3] has 2 dimensions
# stderr: <element>: error: 'total[0,x]': 'x' is not an index
# stderr: <element>: error: 'total[0,0': expected NAME[I,J], NAME@ITERATION[I,J] or NAME[ELEMENT][I,J]
# stderr: <element>: error: 'total@1[0,0]': not executed in that iteration
# stderr: <element>: error: 'total@[0,0]': expected an iteration (from 0) after '@', or @OUTER.INNER for nested loops
# stderr: <element>: error: 'total': no NaN or infinity found; missing index [I,J,...] into f32[2,3]
# stderr: <element>: error: 't': result is a tuple of 2 elements; expected NAME[ELEMENT][I,J]
# stderr: <element>: error: 't[2][0,0]': result is a tuple of 2 elements; select one with [0]
# stderr: <element>: error: 'none[0]': index 0 is out of bounds: dimension 0 has 0 elements
# stderr: <element>: error: unknown instruction 'totl'; did you mean 'total'?
# stderr: <element>: error: no instruction produces NaN or infinity; expected NAME[I,J]
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
for name in 'totl[0,0]' 'total[2,0]' 'total[0]' 'total[0,x]' 'total[0,0' 'total@1[0,0]' 'total@[0,0]' total t 't[2][0,0]' 'none[0]' totl; do
    $HLO why m.hlo "$name" --random=1
    echo $?
done
$HLO why m.hlo --random=1
echo $?
$HLO why
$HLO why m.hlo 'total[0,0]'
echo $?
