# run: results of a fused loop that are the same value, such as scale and offset of a batch normalization, are stored separately, whatever memory held before.
# stderr: -
cat >a.hlo <<'EOF'
HloModule a
ENTRY e { x = bf16[121,2,5,5] parameter(0)
 w = bf16[5] parameter(1)
 n = (bf16[121,2,5,5], bf16[5], bf16[5]) batch-norm-training(x, w, w), epsilon=0.25, feature_index=3
 mean = bf16[5] get-tuple-element(n), index=1
 v = bf16[1,1,5] reshape(w)
 y = bf16[121,2,5,5] get-tuple-element(n), index=0
 z = bf16[121,2,5,5] parameter(2)
 p = pred[121,2,5,5] compare(y, z), direction=LE
 ROOT r = (bf16[5], bf16[1,1,5], pred[121,2,5,5]) tuple(mean, v, p) }
EOF
$HLO plan a.hlo | tr -s ' ' | grep -q '2 fused: convert, convert$' || exit 1
MALLOC_PERTURB_=85 $HLO run a.hlo --random --seed=1 >a.txt && MALLOC_PERTURB_=170 $HLO run a.hlo --random --seed=1 | cmp - a.txt
