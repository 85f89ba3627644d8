# fmt --comments: comments above and behind items, in instructions, before braces, at both ends; XLA's index=N is dropped.
# stdout: // licence
# stdout: 
# stdout: // model
# stdout: HloModule k, entry_computation_layout={(f32[4]{0})->f32[]}
# stdout: 
# stdout: /* the
# stdout:    body */
# stdout: %body (x: f32[], y: f32[]) -> f32[] {
# stdout:   // x comes first
# stdout:   %x = f32[] parameter(0)  // left
# stdout:   %y = f32[] parameter(1)
# stdout:   ROOT %s = f32[] add(%x, %y)  // sum "of" both
# stdout:   // end
# stdout: }  // body
# stdout: 
# stdout: // the entry
# stdout: ENTRY %e (a: f32[4]) -> f32[] {
# stdout:   %a = f32[4]{0} parameter(0)
# stdout:   %z = f32[] constant(0)
# stdout:   // along the only dimension
# stdout:   ROOT %r = f32[] reduce(%a, %z), dimensions={0}, to_apply=%body
# stdout: }
# stdout: 
# stdout: // tail
cat >a.hlo <<'END'
// licence

// model
HloModule k
/* the
   body */
body { // x comes first
  x = f32[] parameter(0)   // left
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, /*index=1*/y) // sum "of" both
  // end
} // body
// the entry
ENTRY e {
  a = f32[4] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(a, z), // along the only dimension
     dimensions={0}, to_apply=body
}
// tail
END
$HLO fmt --comments a.hlo >b.hlo || exit 1
$HLO fmt --check b.hlo a.hlo >names.txt
[ $? = 1 ] || exit 1
[ "$(cat names.txt)" = a.hlo ] || exit 1
cp a.hlo c.hlo
$HLO fmt -i c.hlo && $HLO fmt --check c.hlo || exit 1
cat b.hlo
