# HloModuleProto, HloProto, HloSnapshot and HloUnoptimizedSnapshot are recognized by structure, compressed or not, as files and from a pipe. The constant is s4, a byte for each element.
# needs: proto
# stdout: HloModule m, entry_computation_layout={()->s4[12]{0}}
# stdout:
# stdout: ENTRY %e () -> s4[12] {
# stdout:   ROOT %c = s4[12]{0} constant({1, -2, 3, -8, 7, 0, 1, 2, 3, 4, 5, -1})
# stdout: }
# stdout:
# stdout: module.gz: same
# stdout: hlo: same
# stdout: snapshot: same
# stdout: unoptimized: same
# stdout: container: same
# stdout: pipe: same
# stdout: s4[12] {1, -2, 3, -8, 7, 0, 1, 2, 3, 4, 5, -1}
# stderr: -
printf '\012\001m\022\001e\032J\012\001e\022=\012\001c\022\010constant\032\012\020\025\032\001\014*\003\012\001\000B\033\012\012\020\025\032\001\014*\003\012\001\000\252\001\014\001\016\003\370\007\000\001\002\003\004\005\017\230\002\200\200\200\200\020(\0010\200\200\200\200\020\042\014\022\012\020\025\032\001\014*\003\012\001\0000\001' >module
{ printf '\012\142'; cat module; } >hlo
{ printf '\012\144'; cat hlo; printf '\032\002\012\000'; } >snapshot
{ cat hlo; printf '\022\002\012\000'; } >unoptimized
{ printf '\146'; cat hlo; printf '\022\000'; } >container
gzip -c module >module.gz
$HLO fmt module | tee text
for f in module.gz hlo snapshot unoptimized container; do
    $HLO fmt $f | cmp - text && echo "$f: same"
done
$HLO fmt - <hlo | cmp - text && echo 'pipe: same'
$HLO run hlo
