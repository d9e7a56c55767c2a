# Reports wait, not the target: processes that are followed run on where nobody reads what dpe says.
. tests/tap.sh
need_live 'stalls'
compile_target forks
echo 'detect seen(n): step(n) { print("so much that a pipe is full soon, which nobody reads", n); }' >rule.dpe
mkfifo pipe
sleep 1000 <pipe &
sleeper=$!
exec 4>pipe
"$DPE" run -s rule.dpe --follow -- ./forks over >out 2>&4 &
observer=$!
command_line='dpe run -s rule.dpe --follow -- ./forks over 2>pipe'
exec 4>&-
: >err
await test -e over
check 'a report that nobody reads: the target comes to its end' -e over
check 'and dpe waits for its reader' "$(kill -0 $observer && echo waits)" = waits
kill -TERM $observer
wait $observer
status=$?
check 'SIGTERM ends it all the same' $status -ge 128
kill $sleeper

run "$DPE" run -s rule.dpe --follow -- ./forks
says 'a report that is read: nothing is lost' 1 '40000 matches' ' 0 lost'
finish
