# fmt: builder forms are lowered to core HLO; --strict rejects them.
# stdout: HloModule module_main, entry_computation_layout={(f32[4,6]{1,0}, f32[6]{0})->f32[24]{0}}
# stdout:
# stdout: ENTRY main {
# stdout:   x = f32[4,6]{1,0} parameter(0)
# stdout:   row = f32[6]{0} parameter(1)
# stdout:   shifted.broadcast = f32[4,6]{1,0} broadcast(row), dimensions={1}
# stdout:   shifted = f32[4,6]{1,0} subtract(x, shifted.broadcast)
# stdout:   ROOT r = f32[24]{0} reshape(shifted)
# stdout: }
# stdout: 3
cat >forms.hlo <<'END'
ENTRY main {
  x = f32[4,6] parameter(0)
  row = f32[6] parameter(1)
  shifted = sub(x, row), broadcast_dimensions={1}
  ROOT r = collapse(shifted), dimensions={0,1}
}
END
$HLO fmt --short forms.hlo | sed '$d'
$HLO verify --strict forms.hlo 2>err.txt
echo $?
