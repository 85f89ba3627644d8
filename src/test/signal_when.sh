#!/bin/sh
# Runs a command and sends it a signal when a condition holds.
#
#   signal_when.sh SIGNAL CONDITION COMMAND...    CONDITION: a shell command, with the process id of COMMAND in $PID
#
# The command replaces this script and, unlike background processes of a shell, does not ignore signals. If the condition never
# holds, the signal is sent anyway, so that the test ends and fails.
signal=$1
condition=$2
shift 2
export PID=$$
{
    "${0%/*}/await.sh" "! kill -0 $PID || { $condition; }"
    kill -s "$signal" "$PID"
} </dev/null >/dev/null 2>&1 &
exec env --default-signal="$signal" "$@"
