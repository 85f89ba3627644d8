#!/bin/sh
# Counts the instructions of ten small runs: startup, parsing, planning, and operations dominated by overhead.
# The counts do not depend on the load, so that two commits can be compared.
#
#   counts.sh HLO [COUNTS]     prints name and number of instructions; with a file of earlier counts, also the ratio
#
# Requires valgrind. counts.txt has the counts of the last commit that changed it: counts.sh build/hlo > counts.txt.
HLO=$1
[ $# -ge 1 ] && command -v valgrind > /dev/null || {
    echo "usage: counts.sh HLO [COUNTS], requires valgrind" >&2
    exit 2
}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT

# ---- runs ----

chain() { # operations of 64 elements, one after the other
    echo "HloModule chain
ENTRY e {
  x = f32[64] parameter(0)
  v0 = f32[64] add(x, x)"
    awk -v n="$1" 'BEGIN { split("add multiply maximum subtract minimum", op)
        for (i = 1; i < n; i++) printf "  %sv%d = f32[64] %s(v%d, x)\n", i == n - 1 ? "ROOT " : "", i, op[i % 5 + 1], i - 1 }'
    echo "}"
}

loop() { # a counter and a number
    echo "HloModule loop
c {
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant($1)
  ROOT r = pred[] compare(i, n), direction=LT
}
b {
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  half = f32[] constant(0.5)
  j = s32[] add(i, one)
  y = f32[] multiply(x, half)
  z = f32[] add(y, half)
  ROOT t = (s32[], f32[]) tuple(j, z)
}
ENTRY e {
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[]) tuple(zero, x)
  ROOT w = (s32[], f32[]) while(t), condition=c, body=b
}"
}

rows() { # a row of $1 elements read, changed and written back in each of $2 steps
    echo "HloModule rows
c {
  p = (s32[], f32[100,$1]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant($2)
  ROOT r = pred[] compare(i, n), direction=LT
}
b {
  p = (s32[], f32[100,$1]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[100,$1] get-tuple-element(p), index=1
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
  row = f32[1,$1] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,$1}
  more = f32[1,$1] add(row, row)
  y = f32[100,$1] dynamic-update-slice(x, more, j, zero)
  ROOT t = (s32[], f32[100,$1]) tuple(j, y)
}
ENTRY e {
  x = f32[100,$1] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[100,$1]) tuple(zero, x)
  ROOT w = (s32[], f32[100,$1]) while(t), condition=c, body=b
}"
}

layers() {
    echo "HloModule layers
ENTRY e {
  x = f32[1,64] parameter(0)
  v = f32[64,64] parameter(1)
  w = f32[64,10] parameter(2)
  zero = f32[] constant(0)
  zeros = f32[1,64] broadcast(zero), dimensions={}
  d = f32[1,64] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  r = f32[1,64] maximum(d, zeros)
  ROOT o = f32[1,10] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"
}

sum() {
    echo "HloModule sum
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[64,32] parameter(0)
  zero = f32[] constant(0)
  r = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
  ROOT s = f32[64] sort(r), dimensions={0}, to_apply=less
}"
}

chain 2000 > "$dir/chain.hlo"
loop 20000 > "$dir/loop.hlo"
rows 8 99 > "$dir/rows.hlo"
rows 2000 99 > "$dir/wide.hlo"
layers > "$dir/layers.hlo"
sum > "$dir/sum.hlo"

# ---- counting ----

count() {
    name=$1
    shift
    "$HLO" "$@" > /dev/null 2>&1 || {
        echo "$name: $HLO $* failed" >&2
        return
    }
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$HLO" "$@" 2>&1 > /dev/null |
        awk -v name="$name" '/refs:/ { gsub(",", "", $NF); print name, $NF }'
}

bench() {
    count "$1" bench "$dir/$2.hlo" -n "$3" --threads=1
}

{
    count start-up --version
    count parse verify --parse-only "$dir/chain.hlo"
    count print fmt "$dir/chain.hlo"
    bench first-run chain 1
    bench chain chain 50
    bench loop loop 20
    bench rows rows 100
    bench wide-rows wide 20
    bench layers layers 1000
    bench sum-and-sort sum 1000
} | if [ -n "$2" ]; then
    awk 'NR == FNR { before[$1] = $2; next } { printf "%-14s %12d %12d %6.3f\n", $1, $2, before[$1], before[$1] ? $2 / before[$1] : 0 }' "$2" -
else
    cat
fi
