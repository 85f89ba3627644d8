#!/bin/sh
# Runs a command and sends it a signal when a condition holds.
#
#   signal_when.sh SIGNAL CONDITION COMMAND...    CONDITION: words of the shell, with the command's process as $PID
#
# The command replaces this script, and ignores no signals, unlike what a shell starts in the background. If the condition never
# holds, the signal is sent all the same, so that the test ends and shows what is wrong.
signal=$1
condition=$2
shift 2
export PID=$$
{
    "${0%/*}/await.sh" "! kill -0 $PID || { $condition; }"
    kill -s "$signal" "$PID"
} </dev/null >/dev/null 2>&1 &
exec env --default-signal="$signal" "$@"
