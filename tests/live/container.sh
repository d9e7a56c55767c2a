# Targets in namespaces of their own, with a root and a C library of their own; and dpe in one.
. tests/tap.sh
need_live 'containers'
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
	target=
	tries=0
	until test -n "$target" || test $tries -eq 200; do
		sleep 0.05
		tries=$((tries + 1))
		target=$(pgrep -P $shell -f "^$1 " | head -1)
	done
}

contained /sections 1000000 counter
check 'it is the first process there' "$(sed -n 's/^NSpid:.*\t//p' /proc/$target/status)" = 1
run "$DPE" deadlock -d 1 -p "$target"
says 'a watch of it, by the id that it has here' 0 ' 0 lost; 4 rules: nothing found'
check 'sees it' "$(grep -c '^dpe: [1-9][0-9]* events' err)" -eq 1
cat >count.dpe <<'DPE'
detect counted: counter.enter
detect updated: [count']
detect locked(m): pthread_mutex_lock(m).exit
DPE
run "$DPE" attach --all -d 1 -s count.dpe -p "$target"
says 'its variables, its own C library' 1 'updated: match' 'locked: match' 'by counter+'
kill -KILL "$target"
wait $shell 2>/dev/null
contained /loads wait =/library.so
echo 'detect work(n): work(n).exit { print(n, $1.ret); }' >work.dpe
"$DPE" attach --all -s work.dpe -p "$target" 2>report &
dpe=$!
tries=0
until grep -q 'dpe waits' report || test $tries -eq 200; do
	sleep 0.05
	tries=$((tries + 1))
done
: >"/proc/$target/root/go"
wait $dpe
check 'a library that it loads' "$(grep -c '^work: 0 100$' report)" -eq 1

# The other way round: dpe among those who see themselves alone.
unshare --mount --pid --fork --mount-proc "$DPE" run --all -s work.dpe -- ./loads =./library.so >out 2>err
check 'run in there' "$(grep -c '^work: 0 100$' err) $(grep -c ' 0 lost' err)" = '1 1'
cat >inside.sh <<'SH'
./sections 1000000 counter >/dev/null &
"$1" attach --all -d 1 -s count.dpe -p $!
status=$?
kill -KILL $!
exit $status
SH
run unshare --mount --pid --fork --mount-proc sh inside.sh "$DPE"
says 'attached in there' 1 'updated: match' 'locked: match' ' 0 lost'
finish
