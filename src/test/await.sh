#!/bin/sh
# Waits until a condition holds, so that no test depends on how fast the machine is.
#
#   await.sh CONDITION    CONDITION: a shell command; after 60 s in vain, a message and status 1
tries=1200
until eval "$1" 2>/dev/null; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { echo "waited in vain: $1" >&2; exit 1; }
    sleep 0.05
done
