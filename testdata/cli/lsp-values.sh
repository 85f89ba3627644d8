# lsp: hovers have values of runs on a file of arrays, a bundle or a snapshot, or the reason why there are none.
# needs: proto
# stdout: value: `f32[2] min 6 max 8 mean 7 nan 0 inf 0`
# stdout: value: `f32[2] min 2 max 4 mean 3 nan 0 inf 0`
# stdout: no value: stored.pb: module has 1 parameter, but 2 arguments are stored
# stdout: value: `f32[2] min 2 max 4 mean 3 nan 0 inf 0`
# stdout: no value: none.npz: cannot read file: No such file or directory
# stdout: "message":"sources:\ny[0] = 2  add f32[2]\n  lhs: p[0] = 1  parameter f32[2]\n  rhs: p[0] = 1  parameter f32[2]"
# stdout: "result":"y[0] = 2  add f32[2]\n  lhs: p[0] = 1  parameter f32[2]\n  rhs: p[0] = 1  parameter f32[2]\n"
# stdout: value: `f32[2] all elements 2`
# stdout: "message":"result:\nf32[2] {2, 2}"
# stdout: "result":"f32[2] {2, 2}"
# stdout: no value: step limit exceeded: more than 1 steps (--max-steps)
# stdout: "message":"'inputs' and 'bundle' cannot be combined"
# stdout: "message":"expected 'initialize' first"
# stdout: "message":"expected 'initialize' first"
printf 'ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, x)\n}\n' >m.hlo
$HLO run m.hlo '{1, 2}' --save-bundle=b.npz --quiet
$HLO run m.hlo '{3, 4}' --save-bundle=a.npz --quiet
text=$(awk '{ printf "%s\\n", $0 }' m.hlo)
hover() { # OPTIONS [COMMAND]
    {
        printf '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"initializationOptions":{%s}}}\n' "$1"
        printf '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"u","version":1,"text":"%s"}}}\n' "$text"
        echo '{"jsonrpc":"2.0","method":"textDocument/didSave","params":{"textDocument":{"uri":"u"}}}'
        [ -z "${2:-}" ] || printf '{"jsonrpc":"2.0","id":2,"method":"workspace/executeCommand","params":{"command":"%s","arguments":["u",0]}}\n' "$2"
        echo '{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"u"},"position":{"line":2,"character":7}}}'
        printf '{"jsonrpc":"2.0","id":99,"method":"shutdown"}\n{"jsonrpc":"2.0","method":"exit"}\n'
    } | $TOOLS/lsp_talk.sh $HLO lsp ${3:-} | grep -oE '"result":"[^"]*"|"message":"[^"]*"|(no )?value: [^\\]*'
}
hover '"inputs":"a.npz"'
hover '"bundle":"b.npz"'
hover "\"bundle\":\"$HERE/../fuzz/stored.pb\"" | sed 's/: .*stored.pb/: stored.pb/'
text='ENTRY e { q = s4[3] parameter(0)\n p = f32[2] parameter(1)\n  ROOT y = f32[2] add(p, p) }'
hover "\"bundle\":\"$HERE/../fuzz/stored.pb\""
hover '"inputs":"none.npz"'
hover '"fake":"ones"' hlo.why
hover '"fake":"ones"' hlo.run --max-steps=1
hover '"inputs":"a","bundle":"b"'
