# break in a terminal: the program is stopped until its user has decided.
. tests/tap.sh
need_live 'break in a terminal'
compile_target steps
steps=steps$$ # a name that no other program has
mv steps $steps

running() {
	grep -qsx $steps /proc/[0-9]*/comm
}
gone() {
	! running
}
printf 'detect seen: stride(3) { break; }\n' >rule.dpe

# at_terminal.py OUTPUT ANSWER TARGET COMMAND...: runs the command in a terminal of its own and answers its first question.
# Prints whether the target was stopped at the question, and the exit status.
cat >at_terminal.py <<'X'
import glob, os, pty, select, sys, time

output, answer, target, command = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]

def states():
	"""of all processes that have the target's name"""
	name = "(" + os.path.basename(target) + ")"
	return {stat[2] for stat in stats() if stat[1] == name}

def stands():
	return states() and states() <= {"T", "t"}

def stats():
	for path in glob.glob("/proc/[0-9]*/stat"):
		try:
			yield open(path).read().split()
		except OSError: # gone in the meantime
			pass

pid, terminal = pty.fork()
if not pid:
	os.execv(command[0], command)
seen, asked, gdb_left, deadline = b"", False, False, time.monotonic() + 120
while time.monotonic() < deadline:
	if not select.select([terminal], [], [], 0.2)[0]:
		continue
	try:
		got = os.read(terminal, 4096)
	except OSError:
		break
	if not got:
		break
	seen += got
	if not asked and b"running? " in seen:
		asked = True
		while not stands() and time.monotonic() < deadline:
			time.sleep(0.01)
		time.sleep(0.1) # it stays so
		print("stopped" if stands() else f"states {states()}")
		os.write(terminal, answer.encode() + b"\n")
	if asked and not gdb_left and b"(gdb) " in seen:
		gdb_left = True
		os.write(terminal, b"detach\nquit\n")
if time.monotonic() >= deadline:
	os.kill(pid, 9)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
open(output, "wb").write(seen.replace(b"\r\n", b"\n"))
print(f"status {status}")
X

answer() {
	python3 at_terminal.py seen "$1" $steps "$DPE" run -s rule.dpe -- ./$steps slowly 50 >reported
}

answer c
printf 'stopped\nstatus 1\n' | same 'answer c: the program was stopped at the question, and dpe exits with status 1' reported
check 'answer c: the program runs to its end' "$(grep -c '^sum 1275$' seen)" -eq 1
answer k
printf 'stopped\nstatus 1\n' | same 'answer k: the program was stopped at the question, and dpe exits with status 1' reported
check 'answer k: the program is killed before its end' "$(grep -c '^sum' seen) $(grep -c 'signal 9' seen)" = '0 1'
answer l
printf 'stopped\nstatus 1\n' | same 'answer l: the program was stopped at the question, and dpe exits with status 1' reported
await gone
check 'answer l: dpe reports that the program is no longer observed' "$(grep -c 'no longer observed' seen)" -eq 1
printf '\003' >interrupt
answer "$(cat interrupt)"
check 'Ctrl-C at the question: a new line reports that the program is no longer observed' "$(grep -c '^seen: break: .*no longer observed' seen)" -eq 1
if command -v gdb >/dev/null; then
	answer g
	check 'answer g: the program was stopped at the question, and gdb starts' \
		"$(head -1 reported) $(grep -c '(gdb)' seen | sed 's/[1-9][0-9]*/some/')" = 'stopped some'
	await gone
	check 'answer g: the program runs to its end after gdb detaches' "$(running && echo running)" = ''
fi
run "$DPE" run --on-break=kill -s rule.dpe -- ./$steps slowly 2000
says '--on-break=kill kills the program at the event' 1 'the program is stopped here, at this event' 'signal 9'
run "$DPE" run --on-break=continue -s rule.dpe -- ./$steps slowly 50
says '--on-break=continue continues the program after the event' 1 'stopped here, and continued: at this event' 'exited with status 7'
printf 'detect seen: stride;stride [.args[0] == 2000] { break; }\n' >often.dpe
run "$DPE" run --on-break=continue -s often.dpe -- ./$steps slowly 150
says 'dpe reports how many events stopped the program for a moment' 0 ' events stopped the program for a moment'
check 'the program continues after each stop for a moment' "$(cat out)" = 'sum 11325'
attaches "./$steps slowly 500 stands-by" --break-at=event --on-break=continue -s often.dpe
says 'attach --break-at=event reports the events that stopped the program for a moment' 0 ' events stopped the program for a moment' 'has ended'
check 'attach --break-at=event: the program continues after each stop for a moment' "$(cat answer)" = 'sum 125250'
mkfifo characters
rm err
(printf '\003' && await grep -q 'some time after' err) >characters & # the program may not end before that
run "$DPE" run --break-at=later --on-break=continue -s rule.dpe -- ./$steps copy <characters
says '--break-at=later stops the program some time after the event' 1 'stopped here, and continued, some time after' 'exited with status 0'
check '--break-at=later: the program copies its input as it does without dpe' "$(cat out)" = "$(printf '\003')"
finish
