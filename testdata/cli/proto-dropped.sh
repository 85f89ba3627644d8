# Attributes of the header that an HloModuleProto does not have are dropped with a warning.
# needs: proto
# stderr: m.hlo: warning: replica_count is dropped: a protocol buffer does not have it
# stderr: m.hlo: warning: num_partitions is dropped: a protocol buffer does not have it
# stderr: m.hlo: warning: alias_passthrough_params is dropped: a protocol buffer does not have it
# stderr: m.hlo: warning: allow_spmd_sharding_propagation_to_parameters is dropped: a protocol buffer does not have it
# stderr: m.hlo: warning: allow_spmd_sharding_propagation_to_output is dropped: a protocol buffer does not have it
# stdout: HloModule m, entry_computation_layout={()->f32[]}
# stderr: n.hlo:2:36: warning: a channel_id that is not positive is dropped: a protocol buffer does not have it
# stderr: n.hlo:2:87: warning: a channel_id that is not positive is dropped: a protocol buffer does not have it
cat >m.hlo <<END
HloModule m, alias_passthrough_params=true, replica_count=2, num_partitions=3, allow_spmd_sharding_propagation_to_parameters={true}, allow_spmd_sharding_propagation_to_output={true}
ENTRY e { ROOT c = f32[] constant(1) }
END
$HLO convert m.hlo -o m.pb
$HLO fmt m.pb | head -1
printf 'HloModule m\nENTRY e { t = token[] after-all()  r = (f32[], u32[], token[]) recv(t), channel_id=0  ROOT d = (f32[], token[]) recv-done(r), channel_id=0 }\n' >n.hlo
$HLO convert n.hlo -o n.pb
