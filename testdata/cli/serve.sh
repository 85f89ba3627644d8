# serve: requests on standard input, answers on standard output, one JSON object per line; errors are part of the answer.
# stdout: {"schema":1,"id":1,"status":0,"results":["f32[2] {2, 4}"],"diagnostics":[]}
# stdout: {"schema":1,"id":"a","status":0,"handle":1,"parameters":[{"name":"x","shape":"f32[2]"}],"diagnostics":[]}
# stdout: {"schema":1,"id":2,"status":0,"results":["f32[2] {6, 8}"],"diagnostics":[]}
# stdout: {"schema":1,"id":3,"status":0,"results":[{"shape":"f32[2]","values":[2,2]}],"diagnostics":[]}
# stdout: {"schema":1,"id":4,"status":2,"diagnostics":[{"id":"failure","severity":"error","file":"request","line":0,"column":0,"end_line":0,"end_column":0,"message":"malformed JSON: expected a closing quote, got end of input","suggestion":null,"notes":[]}]}
# stdout: {"schema":1,"id":null,"status":2,"diagnostics":[{"id":"failure","severity":"error","file":"request","line":0,"column":0,"end_line":0,"end_column":0,"message":"expected a JSON object","suggestion":null,"notes":[]}]}
# stdout: 3 4
# stdout: 4 3
# stdout: 5 5
# stdout: 6 0
# stdout: 7 0
# stdout: 11 2
# stdout: 8 0
# stdout: 9 2
# stdout: 10 2
# stdout: {"schema":1,"id":6,"status":0,"text":"HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n\nENTRY %e (x: f32[2]) -> f32[2] {\n  %x = f32[2]{0} parameter(0)\n  ROOT %y = f32[2]{0} add(%x, %x)\n}\n\n","diagnostics":[]}
# stdout: é
# stderr: missing '--stdio'
# status: 2
m='HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] add(x, x) }\n'
loop='c { p = s32[] parameter(0)  n = s32[] constant(0)  ROOT t = pred[] compare(p, n), direction=NE }\nb { p = s32[] parameter(0)  k = s32[] constant(2)  ROOT q = s32[] add(p, k) }\nENTRY e { z = s32[] constant(1)  ROOT w = s32[] while(z), condition=c, body=b }'
cat >in.txt <<E
{"id": 1, "op": "run", "module": "$m", "args": ["{1, 2}"]}
{"id": "a", "op": "load", "module": "$m"}

{"id": 2, "op": "run", "handle": 1, "args": {"x": "f32[2] {3, 4}"}}
{"id": 3, "op": "run", "handle": 1, "options": {"fake": "ones", "json": true, "plain": true}}
{"id": 4, "op": "ru
nonsense
E
$HLO serve --stdio <in.txt
cat >more.txt <<E
{"id": 3, "op": "run", "module": "ENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] custom-call(x), custom_call_target=\"\u0041\" }", "args": ["{1, 2}"]}
{"id": 4, "op": "verify", "module": "ENTRY e { x = f32[2] parameter(0)  ROOT y = f32[3] add(x, x) }"}
{"id": 5, "op": "run", "module": "$loop", "options": {"max_steps": 1000}}
{"id": 6, "op": "fmt", "module": "$m"}
{"id": 7, "op": "ls", "module": "$m"}
{"id": 11, "op": "load", "handle": 1}
{"id": 8, "op": "unload", "handle": 1}
{"id": 9, "op": "run", "handle": 1}
{"id": 10, "op": "run", "module": "$m", "args": ["{1, 2}", "3"]}
E
{ echo '{"op": "load", "module": "ENTRY e { ROOT x = f32[] constant(1) }"}'; cat more.txt; } | $HLO serve --stdio >out.txt
sed -n 's/^{"schema":1,"id":\([0-9]*\),"status":\([0-9]\).*/\1 \2/p' out.txt
grep '"id":6' out.txt
echo '{"id": "\u00e9", "op": "none"}' | $HLO serve --stdio | sed 's/^{"schema":1,"id":"\([^"]*\)".*/\1/'
$HLO serve
