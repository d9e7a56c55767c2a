# What the shell tests share: run something, look at its status and output, say ok or not ok.
# Sourced by sh; sets $DPE and $BUILD (absolute) and $TOP, and changes to an empty folder.

TOP=$(pwd)
BUILD=${BUILD:-build}
DPE=${DPE:-./dpe}
case $BUILD in /*) ;; *) BUILD=$TOP/$BUILD ;; esac
case $DPE in /*) ;; *) DPE=$TOP/$DPE ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

ok() {
	echo "ok - $1"
}

not_ok() {
	echo "not ok - $1"
	failures=$((failures + 1))
}

# explain TEXT...: details of a failure
explain() {
	printf '%s\n' "$@" | sed 's/^/#   /'
}

# run COMMAND...: leaves $status and the files out and err
run() {
	command_line="$*"
	"$@" >out 2>err
	status=$?
}

explain_run() {
	explain "$command_line" "exit status $status" "standard output:" "$(head -c 4000 out)" \
		"standard error:" "$(head -c 4000 err)"
	test "$(wc -c <err)" -le 4000 || explain "and at its end:" "$(tail -c 1000 err)"
}

# check NAME CONDITION...: the test(1) condition about the last run
check() {
	name=$1
	shift
	if test "$@"; then
		ok "$name"
	else
		not_ok "$name"
		explain_run
	fi
}

# gives NAME STATUS: the last run's exit status
gives() {
	check "$1" "$status" -eq "$2"
}

# says NAME STATUS TEXT...: exit status, and standard error contains every TEXT
says() {
	name=$1
	wanted=$2
	shift 2
	missing=
	for text in "$@"; do
		grep -qF -- "$text" err || missing=$text
	done
	if test "$status" -eq "$wanted" && test -z "$missing"; then
		ok "$name"
	else
		not_ok "$name"
		explain "exit status wanted: $wanted" "missing: $missing"
		explain_run
	fi
}

# lines FILE: their number
lines() {
	wc -l <"$1" | tr -d ' '
}

# same NAME FILE: FILE is what standard input says
same() {
	cat >wanted
	if diff -u wanted "$2" >difference; then
		ok "$1"
	else
		not_ok "$1"
		explain "$(cat difference)"
	fi
}

# beside COMMAND WORD...: the command, a function that checks, for each word, four at a time, each in a
# folder of that name with what is here
beside() {
	each=$1
	shift
	running=0
	rm -f out err
	for word in "$@"; do
		mkdir "in-$word"
		(cd "in-$word" && ln -s ../* . && failures=0 && $each "$word" >said 2>&1) &
		running=$((running + 1))
		test $((running % 4)) -ne 0 || wait
	done
	wait
	for word in "$@"; do
		cat "in-$word/said"
		failures=$((failures + $(grep -c '^not ok' "in-$word/said")))
		rm -rf "in-$word"
	done
}

finish() {
	test "$failures" -eq 0
	exit
}

# need_live NAME [PATTERN]: leaves the script, with the reason, where programs, or what the pattern says of
# producer-consumer, cannot be observed and need not. Only watchpoints may be wanting where DPE_LIVE=require.
need_live() {
	test "${DPE_LIVE:-} ${2:-}" != 'require ' || return 0
	printf 'detect s: %s\n' "${2:-main}" >need_live.dpe
	run "$DPE" run -s need_live.dpe -- "$BUILD/examples/producer-consumer"
	if test "$status" -eq 2 && { test "${DPE_LIVE:-}" != require || grep -q "watchpoints do not fire" err; }; then
		echo "ok - $1 # skip $(head -1 err)"
		exit 0
	fi
}

# 1 where glibc's spin lock leads back to its first instruction, so that calls of it cannot be counted: before 2.41
spin_is_unobserved() {
	test "$(getconf GNU_LIBC_VERSION | cut -d. -f2)" -ge 41 && echo 0 || echo 1
}

# need_watchpoints NAME: leaves the script here, with the checks so far, where the machine's watchpoints
# do not fire
need_watchpoints() {
	printf 'detect s: [first]\n' >need_watchpoints.dpe
	run "$DPE" run -s need_watchpoints.dpe -- "$BUILD/examples/producer-consumer"
	grep -q "watchpoints do not fire" err || return 0
	echo "ok - $1 # skip $(head -1 err)"
	finish
}

# await CONDITION...: the command, until it succeeds, two minutes at most, or $DPE_AWAIT seconds
await() {
	deadline=$(($(date +%s) + ${DPE_AWAIT:-120}))
	until "$@" 2>/dev/null; do
		test "$(date +%s)" -le $deadline || return 1
		sleep 0.05
	done
}

# kernel_time PID: for how many ticks of the clock its threads have run in the kernel
kernel_time() {
	sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 13
}

# waits_for_dpe PID SINCE: its threads have run in the kernel for 10 ticks more than SINCE, as one does that waits there for dpe
waits_for_dpe() {
	test "$(kernel_time "$1")" -ge $(($2 + 10))
}

# is_over PID: a child of this shell
is_over() {
	! kill -0 "$1"
}

# observes_or_ended: the dpe that writes err and runs with --debug=probes:1 has everything in place
observes_or_ended() {
	grep -q 'continues as user' err || is_over $observer
}

# begin_observing COMMAND OPTIONS...: a dpe that runs with --debug=probes:1, as soon as it has everything in place
begin_observing() {
	rm -f out err # what another one said there
	"$DPE" "$@" >out 2>err &
	observer=$!
	await observes_or_ended
}

# attaches PROGRAM OPTIONS...: leaves what run does of dpe attach to the program, and its output in the file
# `answer`. It makes the file `stands-by` when it is there, and begins when that is gone: as it is observed.
# Where $stopped is set, dpe is stopped for so many seconds as it begins.
attaches() {
	program=$1
	shift
	$program >answer &
	target=$!
	await test -e stands-by
	command_line="$DPE attach $* -p $target"
	begin_observing attach --debug=probes:1 "$@" -p $target
	test -z "${stopped:-}" || kill -STOP $observer
	rm -f stands-by
	test -z "${stopped:-}" || { sleep "$stopped" && kill -CONT $observer; }
	wait $observer
	status=$?
	wait $target
}

# compile_target NAME: tests/live/targets/NAME.c, to the file NAME here
compile_target() {
	${CC:-cc} -D_GNU_SOURCE= -g -O1 -pthread "$TOP/tests/live/targets/$1.c" -o "$1" || not_ok "compiling $1.c"
}
