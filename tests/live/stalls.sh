# Reports wait, not the target: followed processes continue if the output of dpe is not read. And signals that
# end dpe, which prints its report before.
. tests/tap.sh
need_live 'stalls'
compile_target forks
compile_target steps
echo 'detect seen(n): step(n) { print("so much that a pipe is full soon, which nobody reads", n); }' >rule.dpe
printf 'detect seen: stride\n' >seen.dpe
printf 'detect seen: stride(-5)\n' >never.dpe
./steps beyond enough >/dev/null &
target=$!
mkfifo pipe summary
exec 4<>pipe 5<>summary
"$DPE" run -s rule.dpe --follow -- ./forks over >out 2>pipe &
observer=$!
"$DPE" attach --debug=probes:1 -s never.dpe -p $target >out 2>summary &
silent=$!
: >err
grep -q 'continues as user' <&5
await test -e over
check 'a report that is not read: the target runs to its end' -e over
for file in pipe summary; do
	dd if=/dev/zero of=$file oflag=nonblock bs=1 2>/dev/null
done
check 'a report that is not read: dpe waits for a reader' "$(kill -0 $observer && echo waits)" = waits
kill -TERM $observer $silent
wait $observer
status=$?
command_line='dpe run -s rule.dpe --follow -- ./forks over 2>pipe'
gives 'SIGTERM ends a dpe whose report is not read' 143
wait $silent
status=$?
command_line="dpe attach -s never.dpe -p $target 2>summary"
gives 'SIGTERM ends a dpe whose summary is not read' 143
exec 4<&- 5<&-

run "$DPE" run -s rule.dpe --follow -- ./forks
says 'a report that is read: nothing is lost' 1 '40000 matches' ' 0 lost'

# ended SIGNAL STATUS TEXT COMMAND...: sent once the command has printed TEXT; the exit status is that of its findings
ended() {
	signal=$1 wanted=$2 text=$3
	shift 3
	command_line="SIG$signal to dpe $*"
	: >err
	"$DPE" "$@" >out 2>err </dev/null &
	observer=$!
	await grep -q "$text" err
	kill -$signal $observer
	wait $observer
	status=$?
	says "$command_line: the report is given, with its exit status" "$wanted" 'runs on, no longer observed'
}
for signal in TERM HUP INT; do
	ended $signal 1 'seen: match' attach -s seen.dpe -p $target
done
ended TERM 0 '[0-9] events (' attach --progress=1 -s never.dpe -p $target
ended TERM 1 'seen: match' run -s seen.dpe -- ./steps beyond enough
ended TERM 0 '[0-9] events (' record --progress=1 -s seen.dpe -o log.jsonl -- ./steps beyond enough
# The target sleeps throughout: nothing is observed.
ended TERM 3 '[0-9] events (' deadlock --progress=1 -p $target
ended TERM 0 '[0-9] events (' race --progress=1 stride,main -p $target

# progressed: more lines of progress are there than $seen
progressed() {
	test "$(grep -c '[0-9] events (' err)" -gt $((seen + 1)) || is_over $observer
}
(
	trap '' HUP
	exec "$DPE" attach --progress=1 -s never.dpe -p $target >out 2>err
) &
observer=$!
seen=0
await progressed
kill -HUP $observer
seen=$(grep -c '[0-9] events (' err)
await progressed
: >enough
wait $observer
status=$?
command_line='SIGHUP to dpe attach that ignores it'
says "$command_line: it observes the program to its end" 0 "process $target has ended"
wait $target
status=$?
gives 'the observed program runs to its own end' 7
finish
