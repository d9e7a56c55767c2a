# Progress of a live run, shown on a terminal that the target does not write to.
. tests/tap.sh
need_live 'progress on a terminal'
compile_target steps
printf 'detect never: stride(-1)\n' >rule.dpe

line='^dpe: [0-9]* s: [0-9]* events ([0-9]*/s), 1 thread, 1 slice, 0 findings, 0 lost, [0-9]* MiB$'
cat >terminal.py <<'X'
# Runs a command of the shell in a terminal of its own, and makes the file `enough` as it shows a line.
import os, pty, re, sys
LINE = rb"^dpe: \d+ s: \d+ events \(\d+/s\), 1 thread, 1 slice, 0 findings, 0 lost, \d+ MiB\r$"
shown = b""

def read(terminal):
	global shown
	some = os.read(terminal, 4096)
	shown += some
	if re.search(LINE, shown, re.M):
		open("enough", "w").close()
	return some

pty.spawn(["sh", "-c", sys.argv[1]], read)
X

# Each waits for a line of progress, so all run at once, in folders of their own.
steps=$PWD/steps
rule=$PWD/rule.dpe
program=$PWD/terminal.py
alone() {
	mkdir "$1" && cd "$1" || exit 1
}

# terminal COMMAND: leaves what that terminal showed in err
terminal() {
	command_line=$1
	timeout -s KILL 250 python3 "$program" "$1" </dev/null | tr -d '\r' >err
	status=0
}

# has_lines COUNT
has_lines() {
	test "$(grep -c "$line" err)" -ge "$1"
}
(alone request
	terminal "'$DPE' run --progress=1 -s '$rule' -- '$steps' beyond enough"
	check '--progress shows progress on a terminal that the target writes to' "$(grep -c "$line" err)" -ge 1) >request.tap &
(alone elsewhere
	terminal "'$DPE' run -s '$rule' -- '$steps' beyond enough >sum"
	check 'progress is shown on a terminal if the target writes elsewhere' "$(has_lines 1 && cat sum)" = 'sum 55') >elsewhere.tap &
(alone among
	terminal "'$DPE' run -s '$rule' -- '$steps' slowly 6000"
	check 'progress is not shown on a terminal that the target writes to' "$(grep -c "$line" err) $(grep '^sum' err)" = '0 sum 18003000') >among.tap &
(alone attached
	"$steps" beyond enough >sum 2>/dev/null &
	await grep -q steps /proc/$!/comm
	terminal "'$DPE' attach -s '$rule' -p $!"
	check 'attach shows progress on a terminal' "$(grep -c "$line" err)" -ge 1
	: >enough
	wait) >attached.tap &
(alone report
	"$DPE" run --report=report --progress=1 -s "$rule" -- "$steps" beyond enough >out 2>err &
	await has_lines 2
	: >enough
	wait $!
	check '--report with --progress writes progress to standard error' "$(grep -c "$line" err)" -ge 2
	check '--report with --progress: the file has no lines of progress' "$(grep -c 'dpe: ' report)" -eq 1) >report.tap &
wait
cat ./*.tap
failures=$(cat ./*.tap | grep -c '^not ok')
check 'all six checks of progress were made' "$(cat ./*.tap | grep -c '^ok\|^not ok')" -eq 6
finish
