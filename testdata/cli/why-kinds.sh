# why: sorts, branches, scatters, collectives: the selection, the updates of an element, the participant of an operand
# status: 2
# stdout: all[1] = 78  all-reduce f32[4]
# stdout:   of all participants: o[1] = 39  scatter f32[4]
# stdout:     operand: branch[1] = -1  conditional f32[4]
# stdout:       condition: k = 0  parameter s32[]
# stdout:       branch: minus[1] = -1  negate f32[4]
# stdout:         operand: s[1] = 1  sort f32[4]
# stdout:           chosen: x[3] = 1  parameter f32[4]
# stdout:           line: x[0:4], 4 elements
# stdout:             x[0] = 3  parameter f32[4]
# stdout:             x[1] = 1  parameter f32[4]
# stdout:             x[2] = 2  parameter f32[4]
# stdout:             x[3] = 1  parameter f32[4]
# stdout:     update: u[0] = 10  constant f32[3]
# stdout:     update: u[2] = 30  constant f32[3]
# stdout:     index: i[0:3,0], 3 elements
# stdout:       i[0,0] = 1  constant s32[3,1]
# stdout:       i[1,0] = 9  constant s32[3,1]
# stdout:       i[2,0] = 1  constant s32[3,1]
# stdout: branch[2] = 2  conditional f32[4]
# stdout:   condition: k = 7  parameter s32[]
# stdout:   branch: same[2] = 2  copy f32[4]
# stderr: <element>: error: 'same[2]': not executed on whole values in this run
cat >m.hlo <<'END'
HloModule m, replica_count=2
lt { l = f32[] parameter(0) r = f32[] parameter(1) ROOT c = pred[] compare(l, r), direction=LT }
add { v = f32[] parameter(0) w = f32[] parameter(1) ROOT z = f32[] add(v, w) }
left { a = f32[4] parameter(0) ROOT minus = f32[4] negate(a) }
right { b = f32[4] parameter(0) ROOT same = f32[4] copy(b) }
ENTRY e {
  x = f32[4] parameter(0)
  k = s32[] parameter(1)
  s = f32[4] sort(x), dimensions={0}, to_apply=lt
  branch = f32[4] conditional(k, s, s), branch_computations={left, right}
  i = s32[3,1] constant({{1},{9},{1}})
  u = f32[3] constant({10, 20, 30})
  o = f32[4] scatter(branch, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  ROOT all = f32[4] all-reduce(o), replica_groups={}, to_apply=add
}
END
$HLO why m.hlo 'all[1]' --levels=5 '{3, 1, 2, 1}' 0
$HLO why m.hlo 'branch[2]' '{3, 1, 2, 1}' 7
$HLO why m.hlo 'same[2]' '{3, 1, 2, 1}' 0
