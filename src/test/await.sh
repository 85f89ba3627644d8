#!/bin/sh
# Waits for a condition, so that tests do not depend on the speed of the machine.
#
#   await.sh CONDITION    CONDITION: a shell command; after 60 s, fails with a message
tries=1200
until eval "$1" 2>/dev/null; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { echo "waited in vain: $1" >&2; exit 1; }
    sleep 0.05
done
