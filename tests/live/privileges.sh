# The privileges that dpe needs, and the ones it keeps once the target runs.
. tests/tap.sh
need_live 'privileges'
if test "$(id -u)" -ne 0 || ! command -v setpriv >/dev/null; then
	echo 'ok - privileges # skip needs root and setpriv'
	exit 0
fi
compile_target steps
target=steps$$ # a name that no other program has
mv steps $target
cp "$DPE" dpe
chmod 755 . dpe $target
printf 'detect seen: stride(3) { break; }\n' >rule.dpe
chmod 644 rule.dpe
DPE_PATH=
ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0} # LeakSanitizer cannot look into who has more rights than its user
export ASAN_OPTIONS

# missing CAPABILITIES NAMES: root without these, and without CAP_SYS_ADMIN, which stands for both, is refused
missing() {
	run setpriv --bounding-set="-sys_admin,$1" ./dpe run -s rule.dpe -- ./$target slowly 5
	says "without $1: dpe is refused, and the capability named" 2 "observing a program needs the capabilit$2: run dpe as root"
	check "without $1: the target does not run" "$(cat out)" = ''
}
missing -bpf 'y CAP_BPF'
missing -perfmon 'y CAP_PERFMON'
missing -bpf,-perfmon 'ies CAP_BPF and CAP_PERFMON'

# as_nobody CAPABILITIES COMMAND...: runs it as user 65534 with exactly these
as_nobody() {
	only=$1
	shift
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="-all,$only" --ambient-caps="-all,$only" "$@"
}

# looks PATTERN: the user and the capabilities of the dpe and of the target that run, "65534 0 65534 0"
looks() {
	awk '/^Uid:/ { uid = $3 } /^CapEff:/ { sub("^0*", "", $2); print uid, $2 == "" ? 0 : $2 }' \
		"/proc/$1/status" 2>/dev/null
}

# found: the target runs, and dpe has given up what it does not need; leaves $dpe_is and $target_is
found() {
	is_over $whole && return
	grep -q 'continues as user' err || return
	for pid in $(pgrep -x $target); do
		grep -q beyond "/proc/$pid/cmdline" || continue
		observer=$(awk '{ print $4 }' "/proc/$pid/stat")
		target_is=$(looks "$pid")
		dpe_is=$(looks "$observer")
	done
	test -n "$target_is"
}

# during COMMAND...: runs it, the target until the file `enough` is there; leaves $dpe_is and $target_is, as
# they are in the middle of it
during() {
	rm -f enough
	"$@" enough >out 2>err &
	whole=$!
	dpe_is= target_is=
	await found
	: >enough
	wait $whole
	status=$?
	command_line="$*"
}

if as_nobody +bpf,+perfmon ./dpe run -s rule.dpe -- ./$target slowly 5 >out 2>err; then :; fi
if grep -q CAP_SYS_ADMIN err; then
	ok 'CAP_BPF and CAP_PERFMON # skip this kernel wants CAP_SYS_ADMIN'
else
	during as_nobody +bpf,+perfmon ./dpe run --debug=probes:1 -s rule.dpe -- ./$target beyond
	says 'CAP_BPF and CAP_PERFMON are enough' 1 'at this event' 'with capabilities: CAP_PERFMON, CAP_BPF' 'exited with status 7'
	check 'CAP_BPF and CAP_PERFMON are all capabilities of the running dpe' "$dpe_is" = '65534 c000000000'
fi

during ./dpe run --debug=probes:1 -s rule.dpe -- ./$target beyond
says 'root: dpe keeps the capabilities to observe a program of root' 1 'as user 0, with capabilities: CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF' 'at this event'
check 'root: dpe keeps no other capability' "$dpe_is" = '0 c000080000'

during env SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody ./dpe run --debug=probes:1 -s rule.dpe -- ./$target beyond
says 'sudo: dpe becomes the caller, with the capabilities for a program of root' 1 'as user 65534, with capabilities: CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF' \
	'continued: at this event' 'exited with status 7'
check 'sudo: dpe runs as the caller, the target as root' "$dpe_is ${target_is%% *}" = '65534 c000080024 0'

during env SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody ./dpe run --user=nobody --debug=probes:1 -s rule.dpe -- ./$target beyond
says 'sudo, --user: dpe keeps CAP_PERFMON and CAP_BPF' 1 'with capabilities: CAP_PERFMON, CAP_BPF' 'continued: at this event' 'exited with status 7'
check 'sudo, --user: dpe and the target run as the user' "$dpe_is $target_is" = '65534 c000000000 65534 0'

run env SUDO_UID=0x10 SUDO_GID=65534 ./dpe run --debug=probes:1 -s rule.dpe -- ./$target slowly 5
says 'sudo: a SUDO_UID that is no number is ignored' 1 'as user 0'
run ./dpe run --user=nobody-of-that-name -s rule.dpe -- ./$target slowly 5
says '--user with an unknown name is refused' 2 'there is no such user'
run as_nobody +bpf,+perfmon ./dpe run --user=root -s rule.dpe -- ./$target slowly 5
says '--user with another user, without root, is refused' 2 'only root can run the program as another user'

# A set-uid dpe of root: it runs as its caller from the beginning, and so does its target.
cp dpe dpe-suid
chmod 4755 dpe-suid
printf '' >log.dpel && chmod 600 log.dpel
during setpriv --reuid=65534 --regid=65534 --clear-groups ./dpe-suid run --debug=probes:1 -s rule.dpe -- ./$target beyond
says 'set-uid: dpe observes a program of its caller' 1 'with capabilities: CAP_PERFMON, CAP_BPF' 'exited with status 7'
check 'set-uid: dpe and the target run as the caller' "$dpe_is $target_is" = '65534 c000000000 65534 0'
run setpriv --reuid=65534 --regid=65534 --clear-groups ./dpe-suid run -s rule.dpe -o log.dpel -- ./$target slowly 5
says 'set-uid: dpe refuses a log that its caller may not write' 2 'log.dpel'

rm -f enough
./$target beyond enough >/dev/null &
pid=$!
begun() { test "$(readlink "/proc/$pid/exe")" -ef "./$target"; }
await begun
run as_nobody +bpf,+perfmon ./dpe attach -d 1 -s rule.dpe -p $pid
says 'attach to a process of another user is refused' 2 'needs the capability CAP_SYS_PTRACE'
run as_nobody +bpf,+perfmon,+sys_ptrace ./dpe attach -d 1 --debug=probes:1 -s rule.dpe -p $pid
says 'attach to a process of another user is possible with CAP_SYS_PTRACE' 0 'with capabilities: CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF' 'no longer observed'
kill $pid
finish
