#!/bin/sh
# Measures each operation that computes, for each class of element types and three access patterns of its first operand, on one thread,
# against a limit: its bytes at the bandwidth of a contiguous copy, or its operations at the rate of the f32 dot, whichever takes longer.
# An operation is one lane of 32 bits of a vector instruction: an f64 counts twice, and what processors issue less often more (sweep.def).
# Elementwise operations are read from op.def, others from sweep.def, which also has the costs and the reasons.
# Prints the rows below a quarter of the limit, or all of them, or with --table one line per operation, as in sweep.md.
#
#   sweep.sh HLO [--all | --table] [--runs=N] [--threads=N] [BYTES PER OPERAND] [OPCODE...]
here=$(dirname "$0")
hlo=$1
shift
all=0 table=0 runs=30 threads=1
while :; do
    case $1 in
    --all) all=1 ;;
    --table) table=1 ;;
    --runs=*) runs=${1#*=} ;;
    --threads=*) threads=${1#*=} ;;
    *) break ;;
    esac
    shift
done
bytes=${1:-16777216}
[ $# -gt 0 ] && shift
# `copy` and `dot` are always measured, for the limits.
[ $# -gt 0 ] && set -- "$@" copy dot
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# One module per row of the table, in a file OPCODE.TYPE.ACCESS.NUMBER; its first line has bytes and operations.
awk -F' *[|] *' -v dir="$dir" -v bytes="$bytes" -v only=" $* " '
function width(t) { return t == "u8" ? 1 : t == "bf16" ? 2 : t ~ /64/ ? 8 : 4 }
function class(t) { return t ~ /^c/ ? "COMPLEX" : t ~ /f/ ? "FLOAT" : t ~ /^u/ ? "UNSIGNED" : "SIGNED" }
function lanes(t) { return t ~ /64/ ? 2 : 1 }
function cost_of(opcode, t, work) {
    return (opcode, t) in cost ? cost[opcode, t] : (opcode, "*") in cost ? cost[opcode, "*"] * lanes(t) : work * lanes(t)
}
function allows(types, t) {
    return types ~ class(t) || types ~ /TY_A/ || (types ~ /TY_INTEGER/ && class(t) ~ /SIGNED/)
}
function access_of(t, pattern) {
    if (pattern == "contiguous") return "x = T[R,128,8] parameter(0)"
    if (pattern == "broadcast") return "q = T[R,128] parameter(0)\n  x = T[R,128,8] broadcast(q), dimensions={0,1}"
    return "q = T[8,128,R] parameter(0)\n  x = T[R,128,8] transpose(q), dimensions={2,1,0}"
}
function compare_of(name, op, t) {
    return name " {\n  a = " t "[] parameter(0)\n  b = " t "[] parameter(1)\n  ROOT r = " op "\n}\n"
}
function step_of(row) {
    return "STEP {\n  a = " row " parameter(0)\n  b = " row " parameter(1)\n  c = " row " add(a, b)\n  ROOT r = (" row ", " row ") tuple(c, c)\n}\n"
}
function put(opcode, t, pattern, work, ratio, body,    r, text, size, file, operands) {
    if (only !~ /^ *$/ && index(only, " " opcode " ") == 0) return
    r = int(bytes / width(t) / 1024)
    if (r < 2) r = 2
    operands = (pattern == "broadcast" ? 0.125 : 1) + (body ~ /[(, ]y[,)]/) + (body ~ /[(, ]z[,)]/ && body !~ /z = /)
    size = r * 1024 * width(t) * (operands + ratio)
    text = access_of(t, pattern)
    if (body ~ /[(, ]y[,)]/) text = text "\n  y = T[R,128,8] parameter(1)"
    if (body ~ /[(, ]z[,)]/ && body !~ /z = /) text = text "\n  z = T[R,128,8] parameter(2)"
    gsub(/; /, "\n  ", body)
    if (t == "c64") sub(/constant\(0\)/, "constant((0, 0))", body)
    text = text "\n  " body
    gsub(/T\[/, t "[", text)
    gsub(/C\[/, (t == "f64" ? "c128" : "c64") "[", text)
    gsub(/[[]R/, "[" r, text)
    gsub(/,R\]/, "," r "]", text)
    gsub(/:R\]/, ":" r "]", text)
    gsub(/=\{R,/, "={" r ",", text)
    file = dir "/" opcode "." t "." pattern "." ++count ".hlo"
    # A function of one operand is computed before the broadcast.
    printf "// %.0f %.0f\n", size, r * 1024 * cost_of(opcode, t, work) / (unary && pattern == "broadcast" ? 8 : 1) > file
    for (k = 0; k < 3; k++) printf "// peers: param=%d range=1,%d\n", k, class(t) ~ /SIGNED/ ? 7 : 2 > file
    print "HloModule m\n" > file
    if (text ~ /ADD/) print compare_of("ADD", t "[] add(a, b)", t) > file
    if (text ~ /MOST/) print compare_of("MOST", t "[] maximum(a, b)", t) > file
    if (text ~ /GREATER/) print compare_of("GREATER", "pred[] compare(a, b), direction=GE", t) > file
    if (text ~ /LESS/) print compare_of("LESS", "pred[] compare(a, b), direction=LT", t) > file
    if (text ~ /STEP/) print step_of(t "[128,8]") > file
    print "ENTRY e {\n  " text "\n}" > file
    close(file)
}
function put_all(opcode, types, work, ratio, body,    n, t, k) {
    n = split(types, t, " ")
    for (k = 1; k <= n; k++) {
        put(opcode, t[k], "contiguous", work, ratio, body)
        put(opcode, t[k], "broadcast", work, ratio, body)
        put(opcode, t[k], "transposed", work, ratio, body)
    }
}
function put_elementwise(    f, opcode, n, types, t, k, body, ratio, result) {
    split($0, f, ", *")
    opcode = f[2]
    gsub(/"/, "", opcode)
    n = f[3] + 0
    if (f[9] !~ /^(elementwise|compare)$/ || f[5] !~ /ARY$/ || opcode ~ /^(complex|select)$/) return
    split("f32 bf16 f64 s32 u8 c64", types, " ")
    for (k = 1; k <= 6; k++) {
        t = types[k]
        if (!allows(f[6], t) || (opcode ~ /^(compare|clamp)$/ && t == "c64")) continue
        result = opcode ~ /^(is-finite|compare)$/ ? "pred" : "T"
        if (t == "c64" && opcode ~ /^(abs|real|imag)$/) result = "f32"
        ratio = result == "pred" ? 1 / width(t) : result == "f32" ? 0.5 : 1
        body = "ROOT r = " result "[R,128,8] " opcode "(" (n == 1 ? "x" : n == 2 ? "x, y" : "x, y, z") ")"
        if (opcode == "compare") body = body ", direction=LT"
        unary = n == 1
        put_all(opcode, t, 1, ratio, body)
        unary = 0
    }
}
FNR == 1 { file_number++ } # costs are read first
file_number == 1 && sub(/^cost /, "") {
    split($0, p, ": *")
    n = split(p[1], w, " ")
    for (k = 2; k <= n; k++) cost[w[1], w[k]] = p[2] + 0
}
/^OP\(/ { put_elementwise() }
file_number == 2 && sub(/^op /, "") { put_all($1, $2, $3, $4, $5) }
' "$here/sweep.def" "$here/sweep.def" "$here/../op/op.def" || exit 1

for file in "$dir"/*.hlo; do
    head -n 1 "$file" | tr -d '/\n'
    n=$runs
    case $file in */copy.*.contiguous.* | */dot.f32.contiguous.*) n=$((4 * runs)) ;; esac # the limits of all others
    "$hlo" bench -n "$n" --threads="$threads" --json "$file" 2>&1 | head -n 1
done | awk -v all="$all" -v table="$table" -v defs="$here/sweep.def" '
BEGIN {
    n = 0
    while ((getline line < defs) > 0)
        if (sub(/^reason /, "", line)) {
            split(line, p, ": *")
            split(p[1], key, " ")
            why[key[1], key[2], key[3]] = p[2]
        }
}
function reason(op, t, a, part,    r) {
    r = why[op, t, a] why[op, "*", a] why[op, t, "*"] why[op, "*", "*"]
    # What applies to a pattern of access explains no more than a factor of ten.
    return r != "" || part < 0.1 ? r : why["*", "*", a]
}
match($0, /"run_min_s":[0-9.e-]*/) {
    time[n] = substr($0, RSTART + 12, RLENGTH - 12)
    match($0, /[^\/"]*[.]hlo"/)
    split(substr($0, RSTART, RLENGTH), f, ".")
    op[n] = f[1]; type[n] = f[2]; access[n] = f[3]; size[n] = $1; work[n] = $2
    if (op[n] == "copy" && access[n] == "contiguous" && size[n] / time[n] > bandwidth)
        bandwidth = size[n] / time[n]
    if (op[n] == "dot" && type[n] == "f32" && work[n] / time[n] > rate) rate = work[n] / time[n]
    n++
    next
}
/ is not defined on / { next }
{ print "no time: " $0; failed = 1 }
# The percentages of all rows of an operation and a type.
function cell_of(o, t,    v, text) {
    for (v = 1; (o, t, "contiguous", v) in percent; v++)
        text = text (v > 1 ? ", " : "") percent[o, t, "contiguous", v] " " percent[o, t, "broadcast", v] " " percent[o, t, "transposed", v]
    return text
}
function print_table(    k, t, types, line, last) {
    split("f32 bf16 f64 s32 u8 c64", types, " ")
    for (k = 0; k < n; k++)
        percent[op[k], type[k], access[k], ++variants[op[k], type[k], access[k]]] = sprintf("%.0f", limit[k] / time[k] * 100)
    print "| operation | f32 | bf16 | f64 | s32 | u8 | c64 |\n|---|---|---|---|---|---|---|"
    for (k = 0; k < n; k++) {
        if (op[k] == last) continue
        last = op[k]
        line = "| " last
        for (t = 1; t <= 6; t++) line = line " | " cell_of(last, types[t])
        print line " |"
    }
}
END {
    for (k = 0; k < n; k++) {
        limit[k] = size[k] / bandwidth
        if (work[k] / rate > limit[k]) limit[k] = work[k] / rate
        if (limit[k] / time[k] >= 0.25) continue
        below++
        if (reason(op[k], type[k], access[k], limit[k] / time[k]) == "") unexplained++
    }
    printf "%d rows, %d below a quarter of the limit, %d of them without a reason; %.1f GB/s, %.1f Gop/s\n\n", n,
        below, unexplained, bandwidth / 1e9, rate / 1e9
    if (table) {
        print_table()
        exit failed
    }
    print "| operation | type | access | ms | limit, ms | of the limit | reason |\n|---|---|---|---|---|---|---|"
    for (k = 0; k < n; k++) {
        part = limit[k] / time[k]
        if (all || part < 0.25)
            printf "| %s | %s | %s | %.3f | %.3f | %.0f %% | %s |\n", op[k], type[k], access[k], time[k] * 1e3,
                limit[k] * 1e3, part * 100, reason(op[k], type[k], access[k], part)
    }
    exit failed
}'
