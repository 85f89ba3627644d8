#!/bin/sh
# Runs the first example of README.md with an installed program; its status is 0 if the result is right.
#
#   first_example.sh [HLO]
set -eu
hlo=${1:-hlo}
cat >add.hlo <<'END'
ENTRY main {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT sum = f32[3] add(x, y)
}
END
before=$(date +%s%N)
result=$("$hlo" run add.hlo 'f32[3] {1, 2, 3}' 'f32[3] {10, 20, 30}')
after=$(date +%s%N)
"$hlo" --version -v
echo "$result"
echo "first result after $(((after - before) / 1000)) us"
[ "$result" = 'f32[3] {11, 22, 33}' ]
