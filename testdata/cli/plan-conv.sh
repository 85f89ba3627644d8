# plan: the algorithm of convolutions.
# stderr: -
conv() { # result, input, kernel, window and labels, expected algorithm
    printf 'HloModule c\nENTRY e { x = f32[%s] parameter(0)\n k = f32[%s] parameter(1)\n ROOT c = f32[%s] convolution(x, k), %s }\n' \
        "$2" "$3" "$1" "$4" >c.hlo
    $HLO plan c.hlo >out.txt || exit 1
    grep -q " convolution: $5\$" out.txt || { echo "lacks: $5"; cat out.txt; exit 1; }
}
conv 1,6,6,32 1,8,8,4 3,3,4,32 'window={size=3x3}, dim_labels=b01f_01io->b01f' 'patches in rows by the kernel in panels'
conv 1,32,14,14 1,4,16,16 32,4,3,3 'window={size=3x3}, dim_labels=bf01_oi01->bf01' 'the kernel in rows by the input in place'
conv 1,6,6,4 1,8,8,4 3,3,1,4 'window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=4' 'rows of features'
conv 1,13,13,32 1,8,8,4 3,3,4,32 'window={size=3x3 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f' \
    'phase by phase, patches in rows by the kernel in panels'
conv 32,16,3,3 8,16,9,9 8,32,9,9 'window={size=9x9 pad=1_1x1_1}, dim_labels=fb01_io01->fb01' 'windows in place by the kernel in panels'
