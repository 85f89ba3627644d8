# The arguments of an unoptimized snapshot: in the message or after it, where predicates and narrow types are packed; one list for each participant.
# needs: proto
# stdout: f32[2] {1, 2}
# stdout: f32[2] {1, 2}
# stdout: out[0] = f32[2] {1, 2}
# stdout: out[1] = f32[2] {2, 1}
# stdout: f32[2] {5, 5}
# stdout: s4[3] {1, -2, 3}
# stdout: pred[3] {1, 0, 1}
# stderr: hlo: warning: arguments of 2 participants are stored, but 1 run; use --replicas or --partitions to run more
# stderr: rest:partitions: error: malformed protocol buffer: 1 bytes after the last argument
# stderr: cut:partitions[1].arguments_descriptors[1].argument_size_bytes: error: malformed protocol buffer: 26 bytes, but 25 are left in the file
# stderr: bad:partitions[0].arguments[1]: error: malformed protocol buffer: malformed or truncated literal
# stderr: bad:partitions[0].arguments[1]: error: malformed protocol buffer: shape: malformed or truncated field
# stderr: bad:partitions[0].arguments[0]: error: malformed protocol buffer: 1 bytes after the literal
# stderr: bad:partitions[0].arguments_descriptors[0].version: error: malformed protocol buffer: unknown version 1
# status: 2
module='\012\166\012\001m\022\001e\032B\012\001e\022\032\012\001q\022\011parameter\032\012\020\025\032\001\003*\003\012\001\000\022\037\012\001p\022\011parameter\032\012\020\013\032\001\002*\003\012\001\000H\001\230\002\0010\001"*\012\012\020\025\032\001\003*\003\012\001\000\012\012\020\013\032\001\002*\003\012\001\000\022\012\020\013\032\001\002*\003\012\001\000\032\001q\032\001p'
list='\022\010\022\002\020\024\022\002\020\032'
# q: s4 {1, -2, 3}; p: f32 {1, 2}; p2: f32 {2, 1}
q='\012\000\000\000\000\000\000\000\020\025\032\001\003*\003\012\001\000\341\003'
p='\012\000\000\000\000\000\000\000\020\013\032\001\002*\003\012\001\000\000\000\200?\000\000\000@'
p2='\012\000\000\000\000\000\000\000\020\013\032\001\002*\003\012\001\000\000\000\000@\000\000\200?'
printf "\202\001$module$list$q$p" >one
$HLO run one
printf "\214\001$module$list$list$q$p$q$p2" >two
$HLO run two
$HLO run two --replicas=2
$HLO run one 'p={5, 5}'
$HLO run one --save-bundle=b.npz >text
printf 'HloModule m\nENTRY e { ROOT q = s4[3] parameter(0) }\n' | $HLO run - --inputs=b.npz
# the same with predicates: bits 101 in one byte
printf "$(printf %s "\202\001$module$list$q$p" | sed 's/\\020\\025/\\020\\001/g; s/\\020\\024/\\020\\023/; s/\\341\\003/\\005/')" >pred
$HLO run pred --save-bundle=b.npz >text
printf 'HloModule m\nENTRY e { ROOT q = pred[3] parameter(0) }\n' | $HLO run - --inputs=b.npz
{ cat two; printf x; } >rest
$HLO run rest
head -c -1 two >cut
$HLO run cut
printf "\202\001$module$list$q$(printf %s "$p" | sed 's/\\020\\013\\032\\001\\002\*/\\020\\013\\032\\001\\003*/')" >bad
$HLO run bad
printf "\202\001$module$list$q$(printf %s "$p" | sed 's/\\020\\013\\032/\\020\\013\\033/')" >bad
$HLO run bad
printf "\202\001$module\022\010\022\002\020\025\022\002\020\032${q}x$p" >bad
$HLO run bad
printf "\204\001$module\022\012\022\004\010\001\020\024\022\002\020\032$q$p" >bad
$HLO run bad
