# Values of constants that a text elides are read from the protocol buffer of the same dump beside it; --elided overrides them.
# needs: proto
# stdout: f32[2,3] { { 1, -inf, 5 }, { 25, 16, 1.5 } }
# stdout: f32[2,3] { { 0, 0, 0 }, { 0, 0, 0 } }
# stdout: f32[2,3] { { 1, -inf, 5 }, { 25, 16, 1.5 } }
# stdout: (f32[2,3] { { 1, -inf, 5 }, { 25, 16, 1.5 } }, s32[] 7)
# stderr: d/module_0001.f.before_optimizations.txt: note: values of 1 elided constant are read from 'd/module_0001.f.before_optimizations.hlo.pb'
# stderr: tuple.txt: note: values of 1 elided constant are read from 'tuple.pb.gz'
zeros='{{0,0,0},{0,0,0}}'
mkdir d
cp "$HERE/../proto/add.pbtxt" d/module_0001.f.before_optimizations.hlo.pb
$HLO fmt d/module_0001.f.before_optimizations.hlo.pb | sed 's/constant(.*)/constant({...})/' >d/module_0001.f.before_optimizations.txt
$HLO run d "$zeros" --save-bundle=b.npz
$HLO run d "$zeros" --elided=zero
$HLO run b.npz --inputs=b.npz
gzip >tuple.pb.gz <<'END'
hlo_module {
  name: "t"
  computations {
    name: "main"
    id: 1
    instructions {
      name: "c" opcode: "constant" id: 2
      shape { element_type: TUPLE
        tuple_shapes { element_type: F32 dimensions: [2, 3] layout { minor_to_major: [1, 0] } }
        tuple_shapes { element_type: S32 layout { } } }
      literal {
        shape { element_type: TUPLE
          tuple_shapes { element_type: F32 dimensions: [2, 3] layout { minor_to_major: [1, 0] } }
          tuple_shapes { element_type: S32 layout { } } }
        tuple_literals {
          shape { element_type: F32 dimensions: [2, 3] layout { minor_to_major: [1, 0] } }
          f32s: [1, -inf, 5, 25, 16, 1.5]
        }
        tuple_literals { shape { element_type: S32 layout { } } s32s: 8 }
      }
    }
    root_id: 2
  }
  entry_computation_id: 1
  host_program_shape { result { element_type: TUPLE
    tuple_shapes { element_type: F32 dimensions: [2, 3] layout { minor_to_major: [1, 0] } }
    tuple_shapes { element_type: S32 layout { } } } }
}
END
printf 'HloModule t\nENTRY main { ROOT c = (f32[2,3], s32[]) constant(({...}, 7)) }\n' >tuple.txt
$HLO run tuple.txt | tr -d '\n' | sed 's/  */ /g; s/( f/(f/; s/ )$/)/'
