# lsp: a conversation with an editor: open, error, fix, hover, definition, references, completion, rename, format.
# stdout: {"jsonrpc":"2.0","id":1,"result":{"capabilities":{"positionEncoding":"utf-16","textDocumentSync":{"openClose":true,"change":2,"save":true},"hoverProvider":true,"definitionProvider":true,"referencesProvider":true,"documentHighlightProvider":true,"documentSymbolProvider":true,"foldingRangeProvider":true,"documentFormattingProvider":true,"inlayHintProvider":true,"completionProvider":{"triggerCharacters":["%","(","="]},"renameProvider":{"prepareProvider":true},"codeActionProvider":{"codeActionKinds":["quickfix"]},"codeLensProvider":{},"executeCommandProvider":{"commands":["hlo.run","hlo.why"]},"semanticTokensProvider":{"legend":{"tokenTypes":["keyword","type","method","property","string","number","comment","variable","variable","parameter","function","function","operator","namespace"],"tokenModifiers":["definition"]},"full":true,"range":true}},"serverInfo":{"name":"hlo","version":"0.1.0"}}}
# stdout: {"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///m.hlo","version":1,"diagnostics":[{"range":{"start":{"line":12,"character":6},"end":{"line":12,"character":10}},"severity":1,"code":"unknown-opcode","source":"hlo","message":"unknown opcode 'addd'"}]}}
# stdout: {"jsonrpc":"2.0","id":"codeAction","result":[{"title":"replace 'addd' with 'add'","kind":"quickfix","isPreferred":true,"edit":{"changes":{"file:///m.hlo":[{"range":{"start":{"line":12,"character":6},"end":{"line":12,"character":10}},"newText":"add"}]}}}]}
# stdout: {"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///m.hlo","version":2,"diagnostics":[]}}
# stdout: {"jsonrpc":"2.0","id":"hover","result":{"contents":{"kind":"markdown","value":"```hlo\ny = add(x, x)\n```\n\nshape: `f32[2,3]{1,0}`\n\nvalue: `f32[2,3] all elements 2`\n\n`add(lhs, rhs)`: Sum; on pred, or.\n"},"range":{"start":{"line":12,"character":2},"end":{"line":12,"character":3}}}}
# stdout: {"jsonrpc":"2.0","id":"hover","result":{"contents":{"kind":"markdown","value":"```hlo\nr = f32[2] reduce(y, z), dimensions={1}, to_apply=adder, metadata={op_name=\"sum\" source_file=\"f.py\" source_line=3}\n```\n\nshape: `f32[2]`\n\ntraced from `f.py:3`, `sum`\n\nvalue: `f32[2] all elements 6`\n\n`reduce(operand..., init...)`: Reduces dimensions with a computation.\n"},"range":{"start":{"line":14,"character":7},"end":{"line":14,"character":8}}}}
# stdout: {"jsonrpc":"2.0","id":"hover","result":{"contents":{"kind":"markdown","value":"`reduce(operand..., init...)`: Reduces dimensions with a computation.\n\nReduces the operand over `dimensions` with the reducer `to_apply`: for each index of the remaining\ndimensions the accumulator starts as `init` and becomes `to_apply(accumulator, element)` for each\nelement in row-major order. With no elements the result is `init`. The remaining dimensions keep\ntheir order.\n\n- `dimensions=` *list of integers*, required: Dimensions that the operation applies to.\n- `to_apply=` *computation*, required: Computation to apply.\n"},"range":{"start":{"line":14,"character":18},"end":{"line":14,"character":24}}}}
# stdout: {"jsonrpc":"2.0","id":"hover","result":{"contents":{"kind":"markdown","value":"`dimensions=` *list of integers*, required: Dimensions that the operation applies to.\n"},"range":{"start":{"line":14,"character":32},"end":{"line":14,"character":42}}}}
# stdout: {"jsonrpc":"2.0","id":"hover","result":{"contents":{"kind":"markdown","value":"```hlo\nadder {\n```\n\n3 instructions\n"},"range":{"start":{"line":14,"character":57},"end":{"line":14,"character":62}}}}
# stdout: {"jsonrpc":"2.0","id":"definition","result":{"uri":"file:///m.hlo","range":{"start":{"line":2,"character":0},"end":{"line":2,"character":5}}}}
# stdout: {"jsonrpc":"2.0","id":"references","result":[{"uri":"file:///m.hlo","range":{"start":{"line":12,"character":10},"end":{"line":12,"character":11}}},{"uri":"file:///m.hlo","range":{"start":{"line":12,"character":13},"end":{"line":12,"character":14}}}]}
# stdout: {"jsonrpc":"2.0","id":"documentHighlight","result":[{"range":{"start":{"line":13,"character":2},"end":{"line":13,"character":3}},"kind":3},{"range":{"start":{"line":14,"character":28},"end":{"line":14,"character":29}},"kind":2}]}
# stdout: {"jsonrpc":"2.0","id":"completion","result":{"isIncomplete":false,"items":[{"label":"x","kind":6,"detail":"f32[2,3]","textEdit":{"range":{"start":{"line":14,"character":25},"end":{"line":14,"character":25}},"newText":"x"}},{"label":"y","kind":6,"detail":"f32[2,3]{1,0}","textEdit":{"range":{"start":{"line":14,"character":25},"end":{"line":14,"character":25}},"newText":"y"}},{"label":"z","kind":6,"detail":"f32[]","textEdit":{"range":{"start":{"line":14,"character":25},"end":{"line":14,"character":25}},"newText":"z"}}]}}
# stdout: {"jsonrpc":"2.0","id":"completion","result":{"isIncomplete":false,"items":[{"label":"dimensions","kind":10,"detail":"required, list of integers: Dimensions that the operation applies to.","textEdit":{"range":{"start":{"line":14,"character":32},"end":{"line":14,"character":34}},"newText":"dimensions="}}]}}
# stdout: {"jsonrpc":"2.0","id":"completion","result":{"isIncomplete":false,"items":[{"label":"adder","kind":6,"detail":"computation","textEdit":{"range":{"start":{"line":14,"character":57},"end":{"line":14,"character":59}},"newText":"adder"}}]}}
# stdout: {"jsonrpc":"2.0","id":"completion","result":{"isIncomplete":false,"items":[]}}
# stdout: {"jsonrpc":"2.0","id":"prepareRename","result":{"range":{"start":{"line":12,"character":2},"end":{"line":12,"character":3}},"placeholder":"y"}}
# stdout: {"jsonrpc":"2.0","id":"rename","result":{"changes":{"file:///m.hlo":[{"range":{"start":{"line":12,"character":2},"end":{"line":12,"character":3}},"newText":"twice"},{"range":{"start":{"line":14,"character":25},"end":{"line":14,"character":26}},"newText":"twice"}]}}}
# stdout: {"jsonrpc":"2.0","id":"rename","error":{"code":-32803,"message":"the name 'x' is used on line 12"}}
# stdout: {"jsonrpc":"2.0","id":"rename","error":{"code":-32602,"message":"'2 y' is not a valid name"}}
# stdout: {"jsonrpc":"2.0","id":"documentSymbol","result":[{"name":"adder","kind":12,"range":{"start":{"line":2,"character":0},"end":{"line":6,"character":1}},"selectionRange":{"start":{"line":2,"character":0},"end":{"line":2,"character":5}},"children":[{"name":"a","detail":"f32[]","kind":13,"range":{"start":{"line":3,"character":2},"end":{"line":3,"character":24}},"selectionRange":{"start":{"line":3,"character":2},"end":{"line":3,"character":3}}},{"name":"b","detail":"f32[]","kind":13,"range":{"start":{"line":4,"character":2},"end":{"line":4,"character":24}},"selectionRange":{"start":{"line":4,"character":2},"end":{"line":4,"character":3}}},{"name":"s","detail":"f32[]","kind":13,"range":{"start":{"line":5,"character":7},"end":{"line":5,"character":26}},"selectionRange":{"start":{"line":5,"character":7},"end":{"line":5,"character":8}}}]},{"name":"main","kind":12,"range":{"start":{"line":10,"character":6},"end":{"line":15,"character":1}},"selectionRange":{"start":{"line":10,"character":6},"end":{"line":10,"character":10}},"children":[{"name":"x","detail":"f32[2,3]","kind":13,"range":{"start":{"line":11,"character":2},"end":{"line":11,"character":27}},"selectionRange":{"start":{"line":11,"character":2},"end":{"line":11,"character":3}}},{"name":"y","kind":13,"range":{"start":{"line":12,"character":2},"end":{"line":12,"character":15}},"selectionRange":{"start":{"line":12,"character":2},"end":{"line":12,"character":3}}},{"name":"z","detail":"f32[]","kind":13,"range":{"start":{"line":13,"character":2},"end":{"line":13,"character":23}},"selectionRange":{"start":{"line":13,"character":2},"end":{"line":13,"character":3}}},{"name":"r","detail":"f32[2]","kind":13,"range":{"start":{"line":14,"character":7},"end":{"line":14,"character":121}},"selectionRange":{"start":{"line":14,"character":7},"end":{"line":14,"character":8}}}]}]}
# stdout: {"jsonrpc":"2.0","id":"foldingRange","result":[{"startLine":2,"endLine":5},{"startLine":10,"endLine":14},{"startLine":8,"endLine":9,"kind":"comment"}]}
# stdout: {"jsonrpc":"2.0","id":"inlayHint","result":[{"position":{"line":12,"character":6},"label":"f32[2,3]{1,0}","kind":1,"paddingRight":true}]}
# stdout: {"jsonrpc":"2.0","id":"codeLens","result":[{"range":{"start":{"line":10,"character":6},"end":{"line":10,"character":10}},"command":{"title":"run","command":"hlo.run","arguments":["file:///m.hlo",10]}},{"range":{"start":{"line":10,"character":6},"end":{"line":10,"character":10}},"command":{"title":"why","command":"hlo.why","arguments":["file:///m.hlo",10]}}]}
# stdout: {"jsonrpc":"2.0","id":"semanticTokens/range","result":{"data":[11,2,1,7,1,0,4,3,1,0,0,4,1,5,0,0,2,1,5,0,0,3,9,2,0,0,10,1,5,0,1,2,1,7,1,0,4,3,2,0,0,4,1,8,0,0,3,1,8,0]}}
# stdout: {"jsonrpc":"2.0","method":"window/showMessage","params":{"type":3,"message":"result:\nf32[2] {6, 6}"}}
# stdout: {"jsonrpc":"2.0","id":2,"result":"f32[2] {6, 6}"}
# stdout: {"jsonrpc":"2.0","method":"window/showMessage","params":{"type":3,"message":"sources:\nr[0] = 6  reduce f32[2]  f.py:3\n  reduced: y[0,0:3], 3 elements\n    y[0,0] = 2  add f32[2,3]\n      lhs: x[0,0] = 1  parameter f32[2,3]\n      rhs: x[0,0] = 1  parameter f32[2,3]\n    y[0,1] = 2  add f32[2,3]\n      lhs: x[0,1] = 1  parameter f32[2,3]\n      rhs: x[0,1] = 1  parameter f32[2,3]\n    y[0,2] = 2  add f32[2,3]\n      lhs: x[0,2] = 1  parameter f32[2,3]\n      rhs: x[0,2] = 1  parameter f32[2,3]\n  init: z = 0  constant f32[]"}}
# stdout: {"jsonrpc":"2.0","id":3,"result":"r[0] = 6  reduce f32[2]  f.py:3\n  reduced: y[0,0:3], 3 elements\n    y[0,0] = 2  add f32[2,3]\n      lhs: x[0,0] = 1  parameter f32[2,3]\n      rhs: x[0,0] = 1  parameter f32[2,3]\n    y[0,1] = 2  add f32[2,3]\n      lhs: x[0,1] = 1  parameter f32[2,3]\n      rhs: x[0,1] = 1  parameter f32[2,3]\n    y[0,2] = 2  add f32[2,3]\n      lhs: x[0,2] = 1  parameter f32[2,3]\n      rhs: x[0,2] = 1  parameter f32[2,3]\n  init: z = 0  constant f32[]\n"}
# stdout: {"jsonrpc":"2.0","id":"formatting","result":[{"range":{"start":{"line":0,"character":0},"end":{"line":15,"character":0}},"newText":"HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[2]{0}}\n\n%adder (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n\n// the sum\n// of rows\nENTRY %main (x: f32[2,3]) -> f32[2] {\n  %x = f32[2,3]{1,0} parameter(0)\n  %y = f32[2,3]{1,0} add(%x, %x)\n  %z = f32[] constant(0)\n  ROOT %r = f32[2]{0} reduce(%y, %z), dimensions={1}, to_apply=%adder, metadata={op_name=\"sum\" source_file=\"f.py\" source_line=3}\n"}]}
# stdout: {"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///m.hlo","diagnostics":[]}}
# stdout: {"jsonrpc":"2.0","id":4,"result":null}
T='"textDocument":{"uri":"file:///m.hlo"}'
at() { printf '{"jsonrpc":"2.0","id":"%s","method":"textDocument/%s","params":{%s,"position":{"line":%s,"character":%s}%s}}\n' "$1" "$1" "$T" "$2" "$3" "${4:-}"; }
note() { printf '{"jsonrpc":"2.0","method":"textDocument/%s","params":{%s%s}}\n' "$1" "$T" "${2:-}"; }
all() { printf '{"jsonrpc":"2.0","id":"%s","method":"textDocument/%s","params":{%s%s}}\n' "$1" "$1" "$T" "${2:-}"; }
{
    echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"initializationOptions":{"fake":"ones"}}}'
    echo '{"jsonrpc":"2.0","method":"initialized","params":{}}'
    cat <<'M'
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///m.hlo","version":1,"text":"HloModule m\n\nadder {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n// the sum\n// of rows\nENTRY main {\n  x = f32[2,3] parameter(0)\n  y = addd(x, x)\n  z = f32[] constant(0)\n  ROOT r = f32[2] reduce(y, z), dimensions={1}, to_apply=adder, metadata={op_name=\"sum\" source_file=\"f.py\" source_line=3}\n}\n"}}}
M
    note didSave
    all codeAction ',"range":{"start":{"line":12,"character":6},"end":{"line":12,"character":6}}'
    note didChange ',"contentChanges":[{"range":{"start":{"line":12,"character":6},"end":{"line":12,"character":10}},"text":"add"}]'
    note didSave
    at hover 12 2
    at hover 14 7
    at hover 14 20
    at hover 14 35
    at hover 14 58
    at definition 14 58
    at references 11 2 ',"context":{"includeDeclaration":false}'
    at documentHighlight 14 28
    at completion 14 25
    at completion 14 34
    at completion 14 59
    at completion 10 8
    at prepareRename 12 2
    at rename 12 2 ',"newName":"twice"'
    at rename 12 2 ',"newName":"x"'
    at rename 12 2 ',"newName":"2 y"'
    all documentSymbol
    all foldingRange
    all inlayHint ',"range":{"start":{"line":10,"character":0},"end":{"line":16,"character":0}}'
    all codeLens
    all semanticTokens/range ',"range":{"start":{"line":11,"character":0},"end":{"line":12,"character":0}}'
    echo '{"jsonrpc":"2.0","id":2,"method":"workspace/executeCommand","params":{"command":"hlo.run","arguments":["file:///m.hlo",10]}}'
    echo '{"jsonrpc":"2.0","id":3,"method":"workspace/executeCommand","params":{"command":"hlo.why","arguments":["file:///m.hlo",10]}}'
    all formatting ',"options":{"tabSize":2,"insertSpaces":true}'
    note didClose
    echo '{"jsonrpc":"2.0","id":4,"method":"shutdown"}'
    echo '{"jsonrpc":"2.0","method":"exit"}'
} | $TOOLS/lsp_talk.sh $HLO lsp --stdio
