# For a user, dpe observes only processes that this user may trace, whatever rights dpe's own file has.
. tests/tap.sh
need_live 'rights'
if test "$(id -u)" -ne 0 || ! command -v setpriv >/dev/null || ! command -v setcap >/dev/null; then
	echo 'ok - rights # skip needs root, setpriv and setcap'
	exit 0
fi
compile_target secret
cp "$DPE" dpe-suid
cp "$DPE" dpe-caps
cp "$DPE" dpe-ptrace
chmod 755 . secret
chmod 4755 dpe-suid
setcap cap_bpf,cap_perfmon,cap_sys_admin+ep dpe-caps
setcap cap_bpf,cap_perfmon,cap_sys_admin,cap_sys_ptrace+ep dpe-ptrace
cp secret suid && chmod 4755 suid
cp secret sgid && chgrp 1 sgid && chmod 2755 sgid
cp secret hidden && chmod 4711 hidden
cp secret caps && setcap cap_dac_read_search+ep caps
cp secret plain
echo xyzzy >secret && chmod 600 secret
echo 'detect shown: show(p) { print("shown", text(p)); }' >rule.dpe
chmod 644 rule.dpe
printf '#!/bin/sh\n./suid\n./plain\n./caps\n' >script && chmod 755 script
DPE_PATH=
ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
export ASAN_OPTIONS

user='setpriv --reuid=65534 --regid=65534 --clear-groups'

# no_secret NAME: the text was not reported
no_secret() {
	check "$1: the secret text is not reported" "$(cat out err | grep -c xyzzy)" = 0
}

# shows TEXT: how often the rule's action showed it
shows() {
	grep -c "shown: shown $1" err
}

refused='has more rights than the user who runs dpe'
unseen='with more rights than the user who runs dpe'

for dpe in suid caps ptrace; do
	run $user ./dpe-$dpe run -s rule.dpe -- ./plain
	says "$dpe: the user's own program is observed" 1 'shown: shown nothing' 'exited with status 0'
	for program in suid caps; do
		run $user ./dpe-$dpe run -s rule.dpe -- ./$program
		says "$dpe: $program is refused" 2 "$refused" 'exited with status 0'
		no_secret "$dpe: $program"
		check "$dpe: $program runs to its end" "$(cat out)" = read
	done
	run $user ./dpe-$dpe run -s rule.dpe --follow -- ./script
	says "$dpe: privileged programs among others are not observed, which counts as a loss" 3 "2 programs $unseen" '2 lost' 'text(p) = "nothing"'
	no_secret "$dpe: privileged programs among others"
done
run $user ./dpe-caps run -s rule.dpe -- ./sgid
says 'set-gid: the program is refused' 2 "$refused"
no_secret 'set-gid'
run $user ./dpe-caps run -s rule.dpe -- ./plain script ./suid
says 'exec of a privileged program: it is not observed, which counts as a loss' 1 "1 program $unseen" '1 lost'
check 'exec of a privileged program: only the events before it are shown' "$(shows nothing) $(shows xyzzy)" = '1 0'
run $user ./dpe-caps run -s rule.dpe --follow -- ./plain script ./suid
says '--follow, exec of a privileged program: it is not observed, which counts as a loss' 1 "1 program $unseen" '1 lost'
check '--follow, exec of a privileged program: only the events before it are shown' "$(shows nothing) $(shows xyzzy)" = '1 0'
run $user ./dpe-caps run -s rule.dpe -- ./hidden
says 'a program that cannot be read is refused' 2 'hidden'
no_secret 'a program that cannot be read'

# runs NAME: the target runs this program now
runs() {
	grep -qx "$1" "/proc/$target/comm"
}
$user ./suid go >said &
target=$!
await runs suid
run $user ./dpe-caps attach -d 1 -s rule.dpe -p $target
says 'attach to a set-uid program is refused' 2 'needs the capability CAP_SYS_PTRACE'
run $user ./dpe-ptrace attach -d 1 -s rule.dpe -p $target
says 'attach to a set-uid program is refused also to a dpe file with CAP_SYS_PTRACE' 2 'needs the capability CAP_SYS_PTRACE'
: >go
wait $target
check 'the set-uid program continues after the refused attach' "$(cat said)" = read

# The process that dpe attached to becomes another program.
rm -f go
$user ./plain go ./suid >said &
target=$!
await runs plain
$user ./dpe-caps attach --debug=probes:1 -s rule.dpe -p $target >out 2>err &
observer=$!
await observes_or_ended
: >go
wait $observer
status=$?
says 'attach, exec of a privileged program: it is not observed, which counts as a loss' 1 "1 program $unseen" '1 lost'
check 'attach, exec of a privileged program: only the events before it are shown' "$(shows nothing) $(shows xyzzy)" = '1 0'
wait $target

run ./dpe-caps run -s rule.dpe -- ./suid
says 'root: a set-uid program is observed' 1 'shown: shown xyzzy' 'exited with status 0'
run $user --inh-caps=+bpf,+perfmon,+sys_admin,+sys_ptrace --ambient-caps=+bpf,+perfmon,+sys_admin,+sys_ptrace \
	"$DPE" run -s rule.dpe -- ./suid
says 'a user with CAP_SYS_PTRACE: a set-uid program is observed' 1 'shown: shown xyzzy' 'exited with status 0'
finish
