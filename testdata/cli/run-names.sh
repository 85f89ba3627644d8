# Parameters by name: x is x.1 if that is unambiguous, and op_name is a name; arrays of numpy.savez are taken in order.
# stdout: f32[2] {11, 22}
# stdout: f32[2] {11, 22}
# stdout: f32[2] {11, 22}
# stdout: f32[2] {11, 22}
# stdout: f32[2] {11, 22}
# stderr: hlo: error: unknown parameter 'b'; the module has 'x.1', 'b.2', 'b.3'
# stderr: in-order: error: file has 'arr_3', but the module has only 3 parameters
# stderr: none: error: no array for parameter 'b.2': tried 'arg1.npy', 'arg1.bin', 'b.2.npy', 'b.2.bin', 'params['b1'].npy', 'params['b1'].bin'
# stderr: short.bin: error: file has 4 bytes, but parameter 'x.1' is f32[2], which has 8 bytes
# status: 2
cat >a.hlo <<'E'
HloModule a
ENTRY e {
  x.1 = f32[2] parameter(0), metadata={op_name="params[\'w\']"}
  b.2 = f32[2] parameter(1), metadata={op_name="params[\'b1\']"}
  b.3 = f32[2] parameter(2), metadata={op_name="params[\'b2\']"}
  s = f32[2] add(x.1, b.2)
  ROOT y = f32[2] add(s, b.3)
}
E
mkdir in-order by-name none
$HLO run a.hlo x='{1, 2}' "params['b1']={10, 20}" b.3='{0, 0}'
$HLO run a.hlo --fake=zeros x='{1, 2}' -o in-order/arr_0.npy
$HLO run a.hlo --fake=zeros x='{10, 20}' -o in-order/arr_1.npy
$HLO run a.hlo --fake=zeros -o in-order/arr_2.npy
$HLO run a.hlo @in-order
$HLO run a.hlo --inputs=in-order
cp in-order/arr_0.npy by-name/x.npy
cp in-order/arr_1.npy "by-name/params['b1'].npy"
cp in-order/arr_2.npy "by-name/b.3.npy"
$HLO run a.hlo @by-name
cp by-name/x.npy none
$HLO run a.hlo b.3='{0, 0}' @in-order -o raw.bin
$HLO run a.hlo x=@raw.bin --fake=zeros
$HLO run a.hlo b='{0, 0}' x='{1, 2}' --fake=zeros
cp in-order/arr_2.npy in-order/arr_3.npy
$HLO run a.hlo @in-order
$HLO run a.hlo @none
head -c 4 raw.bin >short.bin
$HLO run a.hlo x=@short.bin --fake=zeros
