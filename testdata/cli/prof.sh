# prof: where runs of a module spend their time; the same for programs, and as a trace.
# stderr: invalid value '0' for '--runs': expected an integer from 1 to 100000
cat >a.hlo <<'END'
HloModule a
ENTRY e { p = f32[64,64] parameter(0)
 q = f32[64,64] parameter(1)
 t = f32[64,64] transpose(q), dimensions={1,0}
 d = f32[64,64] dot(p, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 c = f32[] constant(1)
 ROOT s = f32[128,64] pad(d, c), padding=0_64x0_0 }
END
$HLO prof a.hlo --runs=3 --chrome=trace.json >out.txt || exit 1
want() {
    tr -s ' ' <out.txt | grep -qE -- "$1" || { echo "lacks: $1"; cat out.txt; exit 1; }
}
want '^ [0-9.]+ [mun]?s [0-9.]+% 3 [0-9.]+ [mun]?s [0-9.]+ [0-9.]+ %d dot'
want '^ [0-9.]+ [mun]?s [0-9.]+% 3 [0-9.]+ [mun]?s - - %t transpose'
want '^ [0-9.]+ [mun]?s [0-9.]+% 3 - [0-9.]+ pad$'
want '^runs 3, median [0-9.]+ [mun]?s, steps [0-9.]+ [mun]?s$'
want '^values 48.0 KiB at peak, predicted 48.0 KiB$'
grep -q '^{"ph":"X","pid":1,"tid":1,"ts":[0-9.e+-]*,"dur":[0-9.e+-]*,"cat":"dot","name":"d","args":{"what":"dot' trace.json || exit 1
$HLO prof a.hlo p=@ones.npy --runs=1 2>/dev/null && exit 1
$HLO prof a.hlo --runs=2 --json --top=1 | grep -q '^{"schema":1,"runs":2,.*"op":"dot","name":"d","computation":"e","what":"dot.*"calls":2,.*"operations":1048576,"bytes":98304}' || exit 1
$HLO prof a.hlo --runs=1 --csv | grep -q '^"e",[0-9],"d","dot","dot.*",1,[0-9.e-]*,[0-9.e-]*,524288,49152$' || exit 1
test $($HLO prof a.hlo --runs=1 --top=1 | grep -c ' more$') = 2 || exit 1
test $(COLUMNS=40 $HLO prof a.hlo --runs=1 --top=1 | grep -c ' more$') = 2 || exit 1
# A narrow table lacks the counts of calls, then the medians; the last column is cut.
COLUMNS=60 $HLO prof a.hlo --runs=1 >out.txt || exit 1
want '^ time share GFLOP/s GB/s step$'
want '^ [0-9.]+ [mun]?s [0-9.]+% [0-9.]+ [0-9.]+ %d dot.*\.\.\.$'
grep -q '.\{61\}' out.txt && exit 1
COLUMNS=20 $HLO prof a.hlo --runs=1 >out.txt || exit 1
want '^ time share step$'
$HLO prof a.hlo --runs=0
test $? = 2
