# Values as HLO, tables, JSON, summaries, with digits and bits, abbreviated, as pictures and in files
# stderr: <stdin>:26: error: .mode npy requires a file: use .once FILE.npy or .output FILE.npy
# stderr: error: usage: .plot NAME[INDEX] [heat|hist|curve] [--png FILE]
# stdout: n = f32[1000] /* min 0 max 999 mean 499.5 nan 0 inf 0 */ {0, 1, 2, ..., 997, 998, 999}
# stdout: n[:4] = f32[4] {0, 1, 2, 3}
# stdout: n = f32[1000] /* min 0 max 999 mean 499.5 nan 0 inf 0 */ {0, 1, 2, ..., 997, 998, 999}
# stdout: x                  0            1            2
# stdout:      0             1          2.5          nan
# stdout:      1          -0.1          inf            6
# stdout: n
# stdout:      0             0
# stdout:      1             1
# stdout:      2             2
# stdout:      3             3
# stdout:      4             4
# stdout:      5             5
# stdout:    ...  f32[1000] min 0 max 999 mean 499.5 nan 0 inf 0
# stdout: n
# stdout:      0             2
# stdout:      1             3
# stdout:      2             4
# stdout: {"schema":1,"name":"x","value":{"shape":"f32[2,3]","values":[[1,2.5,"nan"],[-0.1,"inf",6]]}}
# stdout: n: f32[1000] min 0 max 999 mean 499.5 nan 0 inf 0
# stdout: x[1] = f32[3] {-0.1, inf, 6}
# stdout: x[0] = f32[3] {1 /*0x3f800000*/, 2.5 /*0x40200000*/, nan /*0x7fc00000*/}
# stdout: n[:4] = f32[4] {0, 1, 2, 3}
# stdout: x[0,1] = f32[] 2.5
# stdout: y = f32[2,3] {
# stdout:   {    1,  2.5,  nan },
# stdout:   { -0.1,  inf,    6 }
# stdout: }
# stdout: x[0,0] = f32[] 1
# stdout: f32[3] min -0.1 max 6 mean 2.95 nan 0 inf 1
# stdout: 0 ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout:   ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout:   ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout:   ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout:   ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout:   ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout:   ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout:   ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout:   ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout:   ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout: 0 ......................IIIIIIIIIIIIIIIIIIIIII@@@@@@@@@@@@@@@@@@@@@@|
# stdout:   0                                                                2
# stdout:   -0.1 .:-=+*#%@ 6
# stdout: x[1,2] = f32[] 6
# stdout: x[0] = f32[3] {1, 2.5, nan}
# stdout: PNG
$HLO repl <<'EOF'
.bail off
x = f32[2,3] {{1, 2.5, nan}, {-0.1, inf, 6}};
n = f32[1000] iota(), iota_dimension=0;
n
n[:4]
.maxrows 6
n
.mode table
x
n
n[2:5]
.mode json
x
.mode summary
n
.mode hlo
.precision 2
x[1]
.precision 0
.bits on
x[0]
.bits off
.width 40
n[:4]
.mode npy
x
.once x.npy
x
.mode hlo
x[0,1]
y = @x.npy
.output out.txt
x[1,2]
.output
.once once.txt
x[0]
x[0,0]
.plot x[1] heat
.plot x --png x.png
.plot x bars
.shell cat out.txt once.txt
!head -c 4 x.png | tail -c 3; echo
EOF
