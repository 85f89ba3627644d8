# An array of Python objects is rejected.
# status: 2
# stderr: x.npy: error: element type '|O' has no HLO equivalent
printf 'HloModule a\nENTRY e { ROOT p = f32[1] parameter(0) }\n' >a.hlo
printf '\223NUMPY\001\000\072\000%s' "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }  " >x.npy
printf '\n1234' >>x.npy
$HLO run a.hlo @x.npy
