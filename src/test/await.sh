#!/bin/sh
# Waits until a condition holds, so that no test goes by how fast the machine is.
#
#   await.sh CONDITION    CONDITION: words of the shell; after 60 s of waiting in vain it says so, status 1
tries=1200
until eval "$1" 2>/dev/null; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { echo "waited in vain: $1" >&2; exit 1; }
    sleep 0.05
done
