# A reader may close the pipe: there is no message, and the status is that of SIGPIPE, whether the signal is ignored or not.
# stdout: 141
# stdout: 141
# stderr: -
printf 'HloModule m\nENTRY e { ROOT y = f32[99999] iota(), iota_dimension=0 }\n' >m.hlo
{ $HLO run m.hlo --full; echo $? >status; } | head -c 10 >/dev/null; "$TOOLS/await.sh" 'test -s status'; cat status
rm status
trap '' PIPE
{ $HLO run m.hlo --full; echo $? >status; } | head -c 10 >/dev/null; "$TOOLS/await.sh" 'test -s status'; cat status
