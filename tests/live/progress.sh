# How a live run goes, told on a terminal that the target does not write on.
. tests/tap.sh
need_live 'progress on a terminal'
compile_target steps
printf 'detect never: stride(-1)\n' >rule.dpe

# terminal COMMAND: by a shell in a terminal of its own; leaves what that showed in err
terminal() {
	command_line=$1
	python3 -c 'import pty, sys; pty.spawn(["sh", "-c", sys.argv[1]])' "$1" </dev/null | tr -d '\r' >err
	status=0
}
line='^dpe: [0-9]* s: [0-9]* events ([0-9]*/s), 1 thread, 1 slice, 0 findings, 0 lost, [0-9]* MiB$'

# Each for as long as a line takes to come, so all at once, in folders of their own.
steps=$PWD/steps
rule=$PWD/rule.dpe
alone() {
	mkdir "$1" && cd "$1" || exit 1
}
(alone request
	terminal "'$DPE' run --progress=1 -s '$rule' -- '$steps' slowly 2500"
	check 'on request' "$(grep -c "$line" err)" -ge 1) >request.tap &
(alone elsewhere
	terminal "'$DPE' run -s '$rule' -- '$steps' slowly 6000 >sum"
	check 'on a terminal, where the target writes elsewhere' "$(grep -c "$line" err) $(cat sum)" = '1 sum 18003000') >elsewhere.tap &
(alone among
	terminal "'$DPE' run -s '$rule' -- '$steps' slowly 6000"
	check 'not among what the target writes' "$(grep -c "$line" err)" -eq 0) >among.tap &
(alone attached
	"$steps" slowly 9000 >sum 2>/dev/null &
	terminal "'$DPE' attach -d 6 -s '$rule' -p $!"
	check 'of a process that runs elsewhere' "$(grep -c "$line" err)" -eq 1
	wait) >attached.tap &
(alone report
	run "$DPE" run --report=report --progress=1 -s "$rule" -- "$steps" slowly 2500
	check 'the report goes where it is told' "$(grep -c "$line" err)" -ge 2
	check 'without these lines' "$(grep -c 'dpe: ' report)" -eq 1) >report.tap &
wait
cat ./*.tap
failures=$(cat ./*.tap | grep -c '^not ok')
check 'all were tried' "$(cat ./*.tap | grep -c '^ok\|^not ok')" -eq 6
finish
