# dpe top, on a real terminal: the screen, the keys, and the terminal afterwards.
. tests/tap.sh
need_live 'dpe top'
command -v tmux >/dev/null || {
	echo 'ok - dpe top # skip there is no tmux'
	finish
	exit
}

cat >busy.c <<'X'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noipa)) void put(int x) { (void)x; }
__attribute__((noipa)) void get(int x) { (void)x; }

static void *work(void *p)
{
	for (int i = 0; i < 3; i++) {
		p ? put(i) : get(i);
		usleep(1000);
	}
	return p;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	printf("a \033[31m line\n");
	fflush(stdout);
	pthread_create(&threads[0], NULL, work, NULL);
	pthread_create(&threads[1], NULL, work, argv);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	if (argc > 1) {
		for (;;)
			pause();
	}
	return 7;
}
X
gcc -g -O1 busy.c -o busy -lpthread || not_ok 'building it'

tm() {
	tmux -S "$folder/socket" -f /dev/null "$@"
}
# begin WIDTH HEIGHT COMMAND: in a terminal of its own; its status goes to a file
begin() {
	rm -f status
	: >errors
	for try in 1 2 3 4 5 6 7 8 9 10; do # a server that was killed may not have ended
		tm new-session -d -x "$1" -y "$2" "$3; echo \$? >status; exec sleep 1000" 2>errors && break
		sleep 0.2
	done
	test ! -s errors || not_ok "a terminal: $(cat errors)"
	tm set -g history-limit 1000
}
# shows TEXT...: waits until the screen has all of them
shows() {
	for try in $(seq $((${DPE_AWAIT:-60} * 10))); do
		tm capture-pane -p >screen 2>/dev/null
		missing=
		for text; do
			grep -qF -- "$text" screen || missing=$text
		done
		test -z "$missing" && return
		sleep 0.1
	done
	sed 's/^/# /' screen
	false
}
key() {
	tm send-keys "$@"
}
# left STATUS: what the command ended with
left() {
	for try in $(seq $((${DPE_AWAIT:-60} * 10))); do
		test -s status && break
		sleep 0.1
	done
	test "$(cat status)" = "$1"
}
rule="-s pthread.dpe -e 'detect race(x): put(x) & get(x)'"

begin 80 24 "$DPE top $rule -- ./busy"
shows 'dpe top: ./busy (' ') has ended' ' 0 lost' 'put.enter' 'get.enter' 'thread::create' 'slices' '3 findings' '#1 race: match of put(x)&get(x)' 'q quits'
check 'a screen of 80 by 24 shows events, rules and findings' $? -eq 0
check 'a screen of 80 by 24 shows the counts of events and matches' "$(grep -c '^put.enter  *3  ' screen) $(grep -c ' race  *3  *3  *0$' screen) $(awk 'length > 80' screen | wc -l)" = '1 1 0'
key Enter
shows 'put(0)' 'at put' 'are independent' 'q back'
check 'Enter opens a finding with its drawing' $? -eq 0
key q
shows 'Enter opens'
check 'q back' $? -eq 0
key o
shows 'a \x1b[31m line'
check 'o shows the output of the program, with escape sequences made harmless' $? -eq 0
tm resize-window -x 30 -y 8
shows 'dpe top needs 40x10'
check 'a terminal that is too small gets a message' $? -eq 0
tm resize-window -x 120 -y 30
shows 'q back' 'line'
check 'a terminal made larger shows the output again' $? -eq 0
key q
shows 'Enter opens'
tm resize-window -x 40 -y 24
shows 'put.enter ' ' slices' '3 findings'
check 'a narrow terminal shows names and the first figure of each' "$(grep -c '^put.enter  *3' screen) $(grep -c '^thread::create  *2' screen) $(grep -c ' race  *3$' screen)" = '1 1 1'
tm resize-window -x 120 -y 30
key q
left 1
check 'q quits with the exit status of dpe run' $? -eq 0
shows '#1 race: match' 'exited with status 7' '1 rule: 3 matches' ' line'
check 'output and report are printed at the end' $? -eq 0
tm kill-server

./busy stay >/dev/null &
target=$!
begin 80 24 "$DPE top -e 'detect race(x): put(x) & get(x)' -p $target"
shows 'process (' '0 findings'
check '-p shows a process that runs already' $? -eq 0
key w
shows "thread $target (busy)" 'pause'
check 'w shows waiting threads' $? -eq 0
key q
shows 'Enter opens'
key C-c
left 3
check 'Ctrl-C leaves with exit status 3 if nothing was observed' $? -eq 0
check 'Ctrl-C leaves the process running' "$(kill -0 $target && echo lives)" = lives
kill $target
tm kill-server

cat >holders.c <<'X'
#include <unistd.h>

__attribute__((noipa)) void get(long x) { (void)x; }
__attribute__((noipa)) void put(long x) { (void)x; }

int main(void)
{
	for (long i = 0; i < 300; i++) {
		get(i);
		if (i % 3)
			put(i);
		if (i % 3 == 2)
			get(i);
	}
	for (;;)
		pause();
}
X
gcc -g -O1 holders.c -o holders || not_ok 'building it'
begin 80 24 "$DPE top -e 'expect A(x): (get(x) ; put(x))*' -e 'detect B(x): get(x) & put(x)' -- ./holders"
shows ' 600 events'
key s
shows 'A: 300 slices' 'B: 300 slices' 'a table of accesses follows them, which has no states' 'q back'
check 's shows slices by state' "$(grep -A2 '^A:' screen | tail -2 | tr -s ' ' | tr '\n' '|')" = ' 200 next put(x) after get(x)| 100 may end; next get(x) after put(x)|'
key q
shows 'Enter opens'
key q
left 0
tm kill-server

cat >flood.c <<'X'
#include <stdio.h>

__attribute__((noipa)) void seldom(int x) { (void)x; }
__attribute__((noipa)) void often(int x) { (void)x; }

int main(void)
{
	seldom(1);
	for (int i = 0; i < 300000; i++)
		often(i);
	return 0;
}
X
gcc -g -O1 flood.c -o flood || not_ok 'building it'
begin 80 24 "$DPE top --rings=1 --ring=4096 -e 'detect race(x): often(x) & seldom(x)' -- ./flood"
shows ') has ended' 'a second    lost'
check 'lost events have a column' $? -eq 0
calls=$(awk '$1 == "often.enter" { print $2 + $4 }' screen)
check 'seen and lost events of a function add up to all calls' "$calls $(awk '$1 == "seldom.enter" { print $2, $4 }' screen)" = '300000 1 0'
check 'the sum of lost events is that of the column' "$(awk 'NR == 1 { for (i = 2; i <= NF; i++) if ($i == "lost") print $(i - 1) }' screen)" -eq "$(awk '$1 == "often.enter" { print $4 }' screen)"
key q
left 3
tm kill-server

for terminal in vt100 screen xterm; do
	begin 80 24 "TERM=$terminal LC_ALL=C $DPE top $rule -- ./busy"
	shows 'dpe top: ./busy (' ') has ended' '3 findings' 'q quits'
	check "the screen is shown on a $terminal" $? -eq 0
	tm kill-server
done
for terminal in dumb nosuchterminal; do
	begin 200 24 "TERM=$terminal $DPE top $rule -- ./busy"
	shows "error: a terminal of type '$terminal' (TERM) is not known, or cannot move its cursor: set TERM to"
	check "a terminal of type $terminal is refused" $? -eq 0
	left 2
	check 'the refusal of terminal type $terminal has exit status 2' $? -eq 0
	tm kill-server
done
begin 80 24 "$DPE top -s nothere.dpe -- ./busy"
left 2
check 'an absent specification gives exit status 2' $? -eq 0
shows 'nothere.dpe'
check 'an absent specification is named on the terminal' $? -eq 0
tm kill-server
begin 80 24 "$DPE top $rule -- ./nothere"
left 2
check 'an absent program gives exit status 2' $? -eq 0
shows 'nothere'
check 'an absent program is named on the terminal' $? -eq 0
tm kill-server
run "$DPE" top -e 'detect a' -- ./busy
says 'dpe top without a terminal is refused' 2 'this is not a terminal: use dpe run or dpe attach'
run "$DPE" top -e 'detect a'
says 'dpe top without a program is refused' 2 'either a process (-p PID) or a program'
finish
