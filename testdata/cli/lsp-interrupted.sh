# lsp: an edit or a cancellation interrupts a run, so that what follows is answered.
# stdout: {"jsonrpc":"2.0","id":"h1","result":{"contents":{"kind":"markdown","value":"```hlo\nw = s32[] while(i), condition=c, body=b\n```\n\nshape: `s32[]`\n\n`while(init)`: Runs a body as long as a condition holds.\n"},"range":{"start":{"line":8,"character":6},"end":{"line":8,"character":7}}}}
# stdout: {"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"the run was interrupted"}}
# stdout: {"jsonrpc":"2.0","id":2,"error":{"code":-32801,"message":"the run was interrupted by an edit"}}
# stdout: {"jsonrpc":"2.0","id":3,"error":{"code":-32801,"message":"the run was interrupted by an edit"}}
# stdout: {"jsonrpc":"2.0","id":"h2","result":{"contents":{"kind":"markdown","value":"```hlo\nw = s32[] while(i), condition=c, body=b\n```\n\nshape: `s32[]`\n\n`while(init)`: Runs a body as long as a condition holds.\n"},"range":{"start":{"line":8,"character":6},"end":{"line":8,"character":7}}}}
# stdout: {"jsonrpc":"2.0","id":4,"result":null}
T='"textDocument":{"uri":"file:///e.hlo"}'
text=$(awk '{ printf "%s\\n", $0 }' "$HERE/endless.hlo")
hover() { printf '{"jsonrpc":"2.0","id":"%s","method":"textDocument/hover","params":{%s,"position":{"line":8,"character":7}}}\n' "$1" "$T"; }
command() { printf '{"jsonrpc":"2.0","id":%s,"method":"workspace/executeCommand","params":{"command":"%s","arguments":["file:///e.hlo",7]}}\n' "$1" "$2"; }
edit() { printf '{"jsonrpc":"2.0","method":"textDocument/didChange","params":{%s,"contentChanges":[{"range":{"start":{"line":%s,"character":0},"end":{"line":%s,"character":0}},"text":" "}]}}\n' "$T" "$1" "$1"; }
cancel() { printf '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%s}}\n' "$1"; }
{
    echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"initializationOptions":{"fake":"zeros"}}}'
    printf '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///e.hlo","version":1,"text":"%s"}}}\n' "$text"
    hover h1
    edit 1
    command 1 hlo.run
    cancel 2
    cancel 1
    command 2 hlo.why
    edit 2
    command 3 hlo.run
    hover h2
    edit 3
    cancel '"h2"'
    echo '{"jsonrpc":"2.0","id":4,"method":"shutdown"}'
    echo '{"jsonrpc":"2.0","method":"exit"}'
} | $TOOLS/lsp_talk.sh $HLO lsp --timeout=600 | grep -v '"id":0'
