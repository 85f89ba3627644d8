# Wire format: a string that occurs twice, a shape that is merged from two messages, unknown fields and fields of a wrong wire type, which are skipped, numbers that are packed and not.
# needs: proto
# stdout: HloModule m, entry_computation_layout={()->f32[5]{0}}
# stdout:
# stdout: ENTRY %e () -> f32[5] {
# stdout:   ROOT %c = f32[5]{0} constant({1, 2, 3, 4, 5})
# stdout: }
# stdout:
# stderr: -
printf '\012\001m\032k\012\001e\022f\012\003old\012\001c\022\010constant\032\004\020\013\030\005\260\011\007\271\01112345678\302\011\003abc\315\0111234B&\012\012\020\013\032\001\005*\003\012\001\000B\010\000\000\200?\000\000\000@E\000\000@@E\000\000\200@B\004\000\000\240@\032\005*\003\012\001\000\010\011\232\002\001x\042\014\022\012\020\013\032\001\005*\003\012\001\000' >m.pb
$HLO fmt m.pb
