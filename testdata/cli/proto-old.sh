# Old forms of modules: comparisons as opcodes, all_reduce_id, groups in the instruction, iota groups in a list, an illegal name; ids that are not in the order of the operands.
# needs: proto
# stdout: HloModule old, entry_computation_layout={(f32[])->pred[]}
# stdout:
# stdout: %sum (a: f32[], b: f32[]) -> f32[] {
# stdout:   %a = f32[] parameter(0)
# stdout:   %b = f32[] parameter(1)
# stdout:   ROOT %add = f32[] add(%a, %b)
# stdout: }
# stdout:
# stdout: ENTRY %main (x: f32[]) -> pred[] {
# stdout:   %x = f32[] parameter(0)
# stdout:   %r1 = f32[] all-reduce(%x), channel_id=4, replica_groups={{0,1},{2,3}}, to_apply=%sum
# stdout:   %r2 = f32[] all-reduce(%r1), replica_groups=[2,2]<=[2,2]T(1,0), to_apply=%sum
# stdout:   ROOT %p_q = pred[] compare(%x, %r2), direction=GT
# stdout: }
# stdout:
# stderr: -
$HLO fmt "$HERE/../proto/old.pbtxt"
