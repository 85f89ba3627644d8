# Arguments as nested lists of JSON: on the command line, in a file, of a tuple; wrong numbers of elements are errors.
# stdout: f32[2,2] { { 2, 3 }, { 4, 5 } }
# stdout: f32[2,2] { { 2, 3 }, { 4, 5 } }
# stdout: f32[2,2] { { nan, inf }, { -inf, 1.5 } }
# stdout: s32[] 7
# stderr: argument 'x':1:8: error: dimension 1 of f32[2,2] has 2 elements, got 3
# stderr: argument 'x':1:4: error: dimension 1 of f32[2,2] has 2 elements, got 1
# stderr: argument 'x':1:14: error: dimension 0 of f32[2,2] has 2 elements, got 3
# stderr: argument 'x':1:10: error: f32[2,2] has 4 elements, got 1
# stderr: argument 'x':1:2: error: values of f32[2,2] are nested 2 levels deep, got 1
# stderr: argument 'x':1:11: error: values of f32[2,2] are nested 2 levels deep, got 1
# stderr: argument 'x':1:3: error: expected a value, ',' or ']', got '}'
# status: 2
cat >a.hlo <<'E'
HloModule a
ENTRY e {
  x = f32[2,2] parameter(0)
  b = f32[2,2] parameter(1)
  ROOT y = f32[2,2] add(x, b)
}
E
cat >t.hlo <<'E'
HloModule t
ENTRY e {
  p = (s32[2], s32[]) parameter(0)
  a = s32[2] get-tuple-element(p), index=0
  b = s32[] get-tuple-element(p), index=1
  s = s32[1] slice(a), slice={[1:2]}
  r = s32[] reshape(s)
  ROOT y = s32[] add(r, b)
}
E
printf '[[1, 2],\n\t[3, 4]]\n' >lists.json
$HLO run a.hlo '[[1,2],[3,4]]' '[[1,1],[1,1]]'
$HLO run a.hlo b=@lists.json 'x=[[1,1],[1,1]]'
$HLO run a.hlo '[[NaN, "inf"], [-Infinity, 1.5]]' '[[0,0],[0,0]]'
$HLO run t.hlo '[[1, 2], 5]'
$HLO run a.hlo 'x=[[1,2,3],[4]]' @lists.json
$HLO run a.hlo 'x=[[1],[2]]' @lists.json
$HLO run a.hlo 'x=[[1,2],[3,4],[5,6]]' @lists.json
$HLO run a.hlo x=5 @lists.json
$HLO run a.hlo 'x=[1,2,3,4]' @lists.json
$HLO run a.hlo 'x={1,2,3,4}' @lists.json
$HLO run a.hlo 'x=[1}' @lists.json
