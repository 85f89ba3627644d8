# Malformed protocol buffers are errors with the path of the field, in wire format with all values of an enclosing message, in text format with line and column where the text is malformed.
# needs: proto
# stderr: m:computations[0].instructions[0].shape: error: malformed protocol buffer: malformed or truncated field
# stderr: m:computations[0].instructions[0].name: error: malformed protocol buffer: string is not UTF-8 text
# stderr: m:computations[0].instructions[0].literal.s4s: error: malformed protocol buffer: expected 12 elements, got fewer
# stderr: t.pbtxt:computations[0].instructions[2].operand_ids[1]: error: malformed protocol buffer: no instruction with id 7
# stderr: t.pbtxt:computations[0].instructions[2].operand_ids[0]: error: malformed protocol buffer: instruction 'sum' must precede its user
# stderr: t.pbtxt:computations[0].instructions[2].operand_ids: error: malformed protocol buffer: 'add' has at most 2 operands, got 3
# stderr: t.pbtxt:computations[0].instructions[2].opcode: error: malformed protocol buffer: unknown opcode 'addd'
# stderr: t.pbtxt:computations[0].instructions[0].id: error: malformed protocol buffer: negative id -1
# stderr: t.pbtxt:computations[0].instructions[1].id: error: malformed protocol buffer: duplicate id 0
# stderr: t.pbtxt:computations[0].instructions[1].name: error: malformed protocol buffer: duplicate name 'x'
# stderr: t.pbtxt:computations[0].instructions[1].name: error: malformed protocol buffer: name is missing
# stderr: t.pbtxt:computations[0].instructions[0].shape: error: malformed protocol buffer: minor_to_major is not a permutation
# stderr: t.pbtxt:computations[0].instructions[0].shape: error: malformed protocol buffer: unknown element type 99
# stderr: t.pbtxt:computations[0].instructions[1].literal.f32s: error: malformed protocol buffer: expected 6 elements, got more
# stderr: t.pbtxt:computations[0].root_id: error: malformed protocol buffer: no instruction with id 9
# stderr: t.pbtxt:host_program_shape.parameter_names: error: malformed protocol buffer: 0 names for 1 parameters
# stderr: t.pbtxt:entry_computation_id: error: malformed protocol buffer: no computation with id 5
# stderr: t.pbtxt:computations[0].instructions[2].shape: error: result of 'add' is f32[2,4], expected f32[2,3]
# stderr: t.pbtxt:10:16: error: malformed protocol buffer: expected ':'
# stderr: t.pbtxt:3:25: error: malformed protocol buffer: unterminated string
# stderr: deep.pbtxt:1:1715: error: malformed protocol buffer: messages nested too deep
# stderr: cut: error: not HLO text but a protocol buffer that has no module or is truncated...
# stderr: t.pbtxt:computations[0].instructions[2]...
# status: 3
edit() { sed "$1" "$HERE/../proto/add.pbtxt" >t.pbtxt; $HLO verify t.pbtxt; }
# bytes FROM TO: one byte of the module
module='\012\001m\022\001e\032J\012\001e\022=\012\001c\022\010constant\032\012\020\025\032\001\014*\003\012\001\000B\033\012\012\020\025\032\001\014*\003\012\001\000\252\001\014\001\016\003\370\007\000\001\002\003\004\005\017\230\002\200\200\200\200\020(\0010\200\200\200\200\020\042\014\022\012\020\025\032\001\014*\003\012\001\0000\001'
bytes() { printf "$(printf '%s' "$module" | sed "$1")" >m; $HLO verify m; }
bytes 's/\\032\\012\\020\\025/\\032\\012\\020\\377/'
bytes 's/\\012\\001c/\\012\\001\\377/'
bytes 's/\\252\\001\\014/\\262\\001\\014/'
edit 's/operand_ids: \[0, 1\]/operand_ids: [0, 7]/'
edit 's/operand_ids: \[0, 1\]/operand_ids: [2, 1]/'
edit 's/operand_ids: \[0, 1\]/operand_ids: [0, 1, 1]/'
edit 's/opcode: "add"/opcode: "addd"/'
edit 's/id: 0/id: -1/'
edit 's/id: 1,/id: 0,/'
edit "s/name: 'c'/name: 'x'/"
edit "s/name: 'c';//"
edit '8s/\[1, 0\]/[1, 1]/'
edit '8s/element_type: F32/element_type: 99/'
edit 's/f32s: 5/f32s: [5, 6]/'
edit 's/root_id: 2/root_id: 9/'
edit 's/parameter_names: "p0"//'
edit '$a entry_computation_id: 5'
edit '20s/\[2, 3\]/[2, 4]/'
edit '10s/instructions {/instructions = {/'
edit '3s/"main"/"main/'
{ yes 'tuple_literals {' | head -n 200; } | sed '1i literal {' | tr '\n' ' ' | sed 's/^/name: "m" computations { instructions { /' >deep.pbtxt
$HLO verify deep.pbtxt
printf "$module" | head -c 90 >cut
$HLO verify cut
# not the builder form of an add, which broadcasts
edit '8s/dimensions: 2 dimensions: 3 layout { minor_to_major: \[1, 0\] }/layout {}/'
