# Targets in namespaces of their own, with a root and a C library of their own; and dpe in one.
. tests/tap.sh
need_live 'containers'
need_watchpoints 'data events in containers'
compile_target sections
compile_target loads
printf '__attribute__((noipa)) int work(int n)\n{\n\treturn n + 100;\n}\n' >library.c
${CC:-cc} -g -O1 -shared -fPIC library.c -o library.so || not_ok 'compiling library.c'
if ! unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
	echo 'ok - containers # skip there are no namespaces to be had'
	exit 0
fi

# The root is a file system that nobody outside can see.
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
# contained COMMAND...: begins it there; leaves its process id in $target
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
# observe PATTERN COMMAND...: until its report has that; leaves what run does
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
check 'it is the first process there' "$(sed -n 's/^NSpid:.*\t//p' /proc/$target/status)" = 1
observe '^dpe: [0-9]* s: [1-9][0-9]* events' "$DPE" deadlock --progress=1 -p "$target"
says 'a watch of it, by the id that it has here' 0 ' 0 lost; 4 rules: nothing found'
check 'sees it' "$(grep -c '^dpe: [1-9][0-9]* events' err)" -eq 1
cat >count.dpe <<'DPE'
detect counted: counter.enter
detect updated: [count']
detect locked(m): [count'] ; pthread_mutex_lock(m).exit
DPE
observe 'locked: match' "$DPE" attach -s count.dpe -p "$target"
says 'its variables, its own C library' 1 'updated: match' 'locked: match' 'by counter+'
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
check 'a library that it loads' "$(grep -c '^work: 0 100$' report)" -eq 1

# The other way round: dpe among those who see themselves alone.
unshare --mount --pid --fork --mount-proc "$DPE" run --all -s work.dpe -- ./loads =./library.so >out 2>err
check 'run in there' "$(grep -c '^work: 0 100$' err) $(grep -c ' 0 lost' err)" = '1 1'
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
says 'attached in there' 1 'updated: match' 'locked: match' ' 0 lost'
finish
