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

terminal "'$DPE' run --progress=1 -s rule.dpe -- ./steps slowly 2500"
check 'on request' "$(grep -c "$line" err)" -ge 1
terminal "'$DPE' run -s rule.dpe -- ./steps slowly 6000 >sum"
check 'on a terminal, where the target writes elsewhere' "$(grep -c "$line" err) $(cat sum)" = '1 sum 18003000'
terminal "'$DPE' run -s rule.dpe -- ./steps slowly 6000"
check 'not among what the target writes' "$(grep -c "$line" err)" -eq 0
./steps slowly 9000 >sum 2>/dev/null &
terminal "'$DPE' attach -d 6 -s rule.dpe -p $!"
check 'of a process that runs elsewhere' "$(grep -c "$line" err)" -eq 1
wait
run "$DPE" run --report=report --progress=1 -s rule.dpe -- ./steps slowly 2500
check 'the report goes where it is told' "$(grep -c "$line" err)" -ge 2
check 'without these lines' "$(grep -c 'dpe: ' report)" -eq 1
finish
