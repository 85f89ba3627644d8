# lsp: malformed messages and positions get an error, and text that does not parse gets answers.
# stdout: {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"expected 'initialize' first"}}
# stdout: {"jsonrpc":"2.0","id":0,"result":{"capabilities":{"positionEncoding":"utf-16","textDocumentSync":{"openClose":true,"change":2,"save":true},"hoverProvider":true,"definitionProvider":true,"referencesProvider":true,"documentHighlightProvider":true,"documentSymbolProvider":true,"foldingRangeProvider":true,"documentFormattingProvider":true,"inlayHintProvider":true,"completionProvider":{"triggerCharacters":["%","(","="]},"renameProvider":{"prepareProvider":true},"codeActionProvider":{"codeActionKinds":["quickfix"]},"codeLensProvider":{},"executeCommandProvider":{"commands":["hlo.run","hlo.why"]},"semanticTokensProvider":{"legend":{"tokenTypes":["keyword","type","method","property","string","number","comment","variable","variable","parameter","function","function","operator","namespace"],"tokenModifiers":["definition"]},"full":true,"range":true}},"serverInfo":{"name":"hlo","version":"0.1.0"}}}
# stdout: {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"malformed JSON: expected a string, got end of input"}}
# stdout: {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"malformed JSON: expected '{' at 'null'"}}
# stdout: {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"invalid UTF-8"}}
# stdout: {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"malformed JSON: expected less nesting at '[[[[[[[[[[[[[[[[[[[['"}}
# stdout: {"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"expected 'method'"}}
# stdout: {"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"unknown method 'textDocument/nothing'"}}
# stdout: {"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"document 'u' is not open"}}
# stdout: {"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"missing 'textDocument.uri'"}}
# stdout: {"jsonrpc":"2.0","id":"hover","result":null}
# stdout: {"jsonrpc":"2.0","id":"hover","error":{"code":-32602,"message":"malformed 'position'"}}
# stdout: {"jsonrpc":"2.0","id":"hover","result":{"contents":{"kind":"markdown","value":"```hlo\nx = f32[2] parameter(0)\n```\n\nshape: `f32[2]`\n\n`parameter()`: An argument of the computation.\n"},"range":{"start":{"line":2,"character":17},"end":{"line":2,"character":18}}}}
# stdout: {"jsonrpc":"2.0","id":"completion","result":{"isIncomplete":false,"items":[{"label":"x","kind":6,"detail":"f32[2]","textEdit":{"range":{"start":{"line":2,"character":20},"end":{"line":2,"character":20}},"newText":"x"}}]}}
# stdout: {"jsonrpc":"2.0","id":"definition","result":{"uri":"u","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}}}
# stdout: {"jsonrpc":"2.0","id":"definition","result":null}
# stdout: {"jsonrpc":"2.0","id":"definition","result":null}
# stdout: {"jsonrpc":"2.0","id":"rename","error":{"code":-32602,"message":"'🙂' is not a valid name"}}
# stdout: {"jsonrpc":"2.0","id":"rename","error":{"code":-32602,"message":"'%zz' is not a valid name"}}
# stdout: {"jsonrpc":"2.0","id":"rename","result":{"changes":{"u":[{"range":{"start":{"line":3,"character":11},"end":{"line":3,"character":12}},"newText":"zz"}]}}}
# stdout: {"jsonrpc":"2.0","id":7,"error":{"code":-32803,"message":"the text has errors"}}
# stdout: {"jsonrpc":"2.0","id":8,"error":{"code":-32803,"message":"the module has errors"}}
# stdout: {"jsonrpc":"2.0","id":9,"error":{"code":-32602,"message":"unknown command"}}
# stdout: {"jsonrpc":"2.0","method":"window/logMessage","params":{"type":1,"message":"textDocument/didChange: malformed 'range' of a change"}}
# stdout: {"jsonrpc":"2.0","id":"hover","result":{"contents":{"kind":"markdown","value":"```hlo\nc = f32[] constant(1)\n```\n\nshape: `f32[]`\n\n`constant()`: A literal value.\n"},"range":{"start":{"line":0,"character":15},"end":{"line":0,"character":16}}}}
# stdout: {"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"already initialized"}}
# stdout: {"jsonrpc":"2.0","id":99,"result":null}
# stdout: Content-Length: 101
# stdout: 
# stdout: {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"missing or malformed 'Content-Length'"}}Content-Length: 95
# stdout: 
# stdout: {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message too long (limit: 1 GiB)"}}
# stdout: {"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"invalid value of 'fake': expected zeros, ones, iota, uniform, normal or edge"}}
# stdout: status 0
# stdout: status 1
# status: 2
talk() { $TOOLS/lsp_talk.sh $HLO lsp "$@"; }
start() { echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'; }
end() { printf '{"jsonrpc":"2.0","id":99,"method":"shutdown"}\n{"jsonrpc":"2.0","method":"exit"}\n'; }
open() { printf '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"u","version":1,"text":"%s"}}}\n' "$1"; }
at() { printf '{"jsonrpc":"2.0","id":"%s","method":"textDocument/%s","params":{"textDocument":{"uri":"u"},"position":{"line":%s,"character":%s}%s}}\n' "$1" "$1" "$2" "$3" "${4:-}"; }
{
    echo '{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}}'
    start
    echo '{"id":2,'
    echo 'null'
    printf '\377{}\n'
    printf '{"a":'"$(printf '%0100d' 0 | tr 0 '[')"'\n'
    echo '{"jsonrpc":"2.0","id":3}'
    echo '{"jsonrpc":"2.0","id":3,"result":null}'
    echo '{"jsonrpc":"2.0","id":4,"method":"textDocument/nothing"}'
    echo '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":4}}'
    echo '{"jsonrpc":"2.0","method":"textDocument/nothing"}'
    echo '{"jsonrpc":"2.0","id":5,"method":"textDocument/hover","params":{"textDocument":{"uri":"u"}}}'
    echo '{"jsonrpc":"2.0","id":6,"method":"textDocument/hover","params":[]}'
    open 'ENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] add(x, \n  /*é🙂*/ %z = f32[2] negate(x)\n'
    at hover 1000000 1000000
    at hover -1 0
    at hover 2 17
    at completion 2 20
    at definition 3 29
    at definition 3 28 ',"x":{"y":[1]}'
    at definition 3 31
    at rename 3 11 ',"newName":"\uD83D\uDE42"'
    at rename 3 11 ',"newName":"%%zz"'
    at rename 3 11 ',"newName":"%zz"'
    echo '{"jsonrpc":"2.0","id":7,"method":"textDocument/formatting","params":{"textDocument":{"uri":"u"}}}'
    echo '{"jsonrpc":"2.0","id":8,"method":"workspace/executeCommand","params":{"command":"hlo.run","arguments":["u"]}}'
    echo '{"jsonrpc":"2.0","id":9,"method":"workspace/executeCommand","params":{"command":"rm"}}'
    echo '{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"u"},"contentChanges":[{"range":{"start":{"line":1,"character":3},"end":{"line":1,"character":2}},"text":""}]}}'
    printf '%s\n' '{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"u"},"contentChanges":[{"text":"ENTRY e { ROOT c = f32[] constant(1) }\r\n"}]}}'
    at hover 0 15
    start
    end
} | talk
printf 'Content-Length: x\r\n\r\nContent-Length: 99999999999999\r\n\r\n' | $HLO lsp | tr -d '\r'; echo
start | sed 's/{}/{"initializationOptions":{"fake":"some"}}/' | talk
printf '' | $HLO lsp
echo status $?
printf 'Content-Length: 33\r\n\r\n{"jsonrpc":"2.0","method":"exit"}' | $HLO lsp
echo status $?
$HLO lsp file
