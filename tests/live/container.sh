# Targets in their own namespaces, with their own root and C library; and dpe in such namespaces.
. tests/tap.sh
need_live 'containers'
need_watchpoints 'data events in containers'
compile_target sections
compile_target loads
printf '__attribute__((noipa)) int work(int n)\n{\n\treturn n + 100;\n}\n' >library.c
${CC:-cc} -g -O1 -shared -fPIC library.c -o library.so || not_ok 'compiling library.c'
if ! unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
	echo 'ok - containers # skip namespaces cannot be created'
	exit 0
fi

# The root is a file system that is mounted only in the container.
cat >enter.sh <<'SH'
mkdir -p root
mount -t tmpfs none root
for file in $(ldd ./sections | grep -o '/[^ ]*'); do
	mkdir -p "root$(dirname "$file")"
	cp -L "$file" "root$file"
done
cp sections loads library.so root/
exec chroot root "$@"
SH
# contained COMMAND...: starts the command in a container, with its process id in $target
contained() {
	unshare --mount --pid --fork --mount-proc sh enter.sh "$@" >answer 2>&1 &
	shell=$!
	await begun "$1"
	target=$(pgrep -P $shell -f "^$1 " | head -1)
}
begun() {
	pgrep -P $shell -f "^$1 "
}
has_threads() {
	test "$(ls /proc/$target/task | wc -l)" -eq 3
}
# observe PATTERN COMMAND...: runs dpe until its report matches the pattern; sets what run sets
observe() {
	pattern=$1
	shift
	command_line="$*"
	: >err
	"$@" >out 2>err &
	observer=$!
	await grep -q "$pattern" err
	kill -TERM $observer
	wait $observer
	status=$?
}

contained /sections 1000000 counter
await has_threads
check 'the target has process id 1 in its container' "$(sed -n 's/^NSpid:.*\t//p' /proc/$target/status)" = 1
observe '^dpe: [0-9]* s: [1-9][0-9]* events' "$DPE" deadlock --progress=1 -p "$target"
says 'dpe deadlock watches a process in a container by its process id outside' 0 ' 0 lost; 8 rules: nothing found'
check 'dpe deadlock sees events of a process in a container' "$(grep -c '^dpe: [1-9][0-9]* events' err)" -eq 1
cat >count.dpe <<'DPE'
detect counted: counter.enter
detect updated: [count']
detect locked(m): [count'] ; pthread_mutex_lock(m).exit
DPE
observe 'locked: match' "$DPE" attach -s count.dpe -p "$target"
says 'dpe attach sees the variables and the C library of a container' 1 'updated: match' 'locked: match' 'by counter+'
kill -KILL "$target"
wait $shell 2>/dev/null
contained /loads wait =/library.so
await test -e "/proc/$target/root/waits"
echo 'detect work(n): work(n).exit { print(n, $1.ret); }' >work.dpe
"$DPE" attach --all -s work.dpe -p "$target" 2>report &
dpe=$!
await grep -q 'dpe waits' report
: >"/proc/$target/root/go"
wait $dpe
check 'dpe attach follows a library that a process in a container loads' "$(grep -c '^work: 0 100$' report)" -eq 1

# The reverse: dpe runs in the new namespaces, with its target.
unshare --mount --pid --fork --mount-proc "$DPE" run --all -s work.dpe -- ./loads =./library.so >out 2>err
check 'dpe run in a container follows a library that its target loads' "$(grep -c '^work: 0 100$' err) $(grep -c ' 0 lost' err)" = '1 1'
cat >inside.sh <<'SH'
./sections 1000000 counter >/dev/null &
target=$!
until test "$(ls /proc/$target/task | wc -l)" -eq 3; do sleep 0.05; done
"$1" attach -s count.dpe -p $target &
dpe=$!
for i in $(seq 2400); do
	grep -q 'locked: match' err && break
	sleep 0.05
done
kill -TERM $dpe
wait $dpe
status=$?
kill -KILL $target
exit $status
SH
run unshare --mount --pid --fork --mount-proc sh inside.sh "$DPE"
says 'dpe attach in a container sees variables and functions of a process there' 1 'updated: match' 'locked: match' ' 0 lost'
finish
