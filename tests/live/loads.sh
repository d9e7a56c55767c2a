# Libraries that the program loads while it runs.
. tests/tap.sh
need_live 'libraries that are loaded later'
compile_target loads

count_seen() {
	grep -c "$1" err
}

# library NAME RESULT: libNAME.so, whose work(n) gives n + RESULT
library() {
	printf 'static int local;\n__attribute__((noipa)) int work(int n)\n{\n\tlocal += n;\n\treturn n + %s;\n}\n' "$2" >"$1.c"
	${CC:-cc} -g -O1 -shared -fPIC "$1.c" -o "lib$1.so" || not_ok "compiling $1.c"
}
library first 100
library second 200
library first 300000 # another one
mv libfirst.so libfirst.so.new
library first 100

echo 'detect work(n): work(n).exit { print(n, $1.ret); }' >work.dpe
run "$DPE" run --all -s work.dpe -- ./loads +./libfirst.so =./libsecond.so =./libfirst.so +./libfirst.so
says 'a function that no file has at the start gets a warning' 1 "warning: no function 'work' in loads or its libraries"
check 'a function in two libraries, one of them opened again, is observed' \
	"$(grep -E '^work: (0 100|1 201|2 102|3 103)$' err | sort | uniq | wc -l) $(count_seen 'work: match')" = '4 4'
check 'no event is lost in libraries that are loaded later' "$(count_seen ' 0 lost')" -eq 1
check 'the output of a program that loads libraries is the same as without dpe' "$(cat out)" = 506

echo 'detect work(n): libsecond::work(n).exit { print(n, $1.ret); }' >second.dpe
run "$DPE" run --all -s second.dpe -- ./loads =./libfirst.so =./libsecond.so
check 'a rule that names a library observes only the function in this library' "$(count_seen '^work: 1 201$') $(count_seen 'work: match')" = '1 1'
run "$DPE" run --all -s work.dpe -- ./loads =./libfirst.so %./libfirst.so thread %./libsecond.so thread +./libfirst.so
check 'libraries loaded in another namespace and by other threads are observed' \
	"$(grep -E '^work: (0 100|1 101|2 202|3 103)$' err | sort | uniq | wc -l) $(count_seen 'work: match')" = '4 4'
cp libfirst.so kept.so
run "$DPE" run --all -s work.dpe -- ./loads +./libfirst.so '<./libfirst.so' +./libfirst.so
check 'a library that is replaced by another file of the same name is observed' \
	"$(grep -E '^work: (0 100|1 300001)$' err | sort | uniq | wc -l) $(count_seen 'work: match')" = '2 2'
mv kept.so libfirst.so

echo 'detect none: plugin::nothing' >none.dpe
run "$DPE" run --allow-unobserved -s none.dpe -- ./loads =./libfirst.so
says 'a library that is never loaded is reported at the end' 0 "'plugin::nothing' never appeared"
echo 'detect none: libc::nothing' >none.dpe
run "$DPE" run -s none.dpe -- ./loads =./libfirst.so
says 'an unknown function of a library that is loaded at the start is an error' 2 "error: no function 'nothing' in libc"
printf 'int main(void)\n{\n\treturn 0;\n}\n' >plain.c
${CC:-cc} plain.c -o plain
echo 'detect none: nothing' >none.dpe
run "$DPE" run -s none.dpe -- ./plain
says 'an unknown function is an error for a program that cannot load libraries' 2 "error: no function 'nothing' in plain or its libraries"

# begin_attach: attaches to $loads, which waits, with the report in the file "report"; stops dpe when it
# observes, and then lets $loads continue
begin_attach() {
	: >report
	await test -e waits
	"$DPE" attach -s work.dpe -p $loads 2>report &
	dpe=$!
	await grep -q 'dpe waits' report
	kill -STOP $dpe
	since=$(kernel_time $loads)
	: >go
}

# The program does not wait for dpe for ever, whether dpe is killed or stopped.
./loads wait =./libfirst.so >answer &
loads=$!
begin_attach
await waits_for_dpe $loads $since
kill -KILL $dpe
wait $loads
check 'a program that waits for dpe at a load continues when dpe is killed' "$(cat answer)" = 100
rm go waits
./loads wait =./libfirst.so =./libsecond.so >answer &
loads=$!
begin_attach
wait $loads
kill -CONT $dpe
wait $dpe
check 'a program that waits for dpe at a load continues although dpe is stopped' "$(cat answer)" = 301
check 'a verdict is inconclusive where the program did not wait for dpe at a load' "$(grep -c '1 rule: nothing .* 1 inconclusive' report)" -eq 1

need_watchpoints 'data events while libraries are loaded'

# Where no rule names functions, nothing can be missed in a library that is loaded while dpe is stopped.
rm go waits
echo "detect sum: [sum']" >sum.dpe
./loads wait =./libfirst.so >answer &
loads=$!
await test -e waits
begin_observing attach --debug=probes:1 -s sum.dpe -p $loads
kill -STOP $observer
: >go
wait $loads
kill -CONT $observer
wait $observer
status=$?
says 'without rules about functions, a load while dpe is stopped loses no event' 1 'sum: match' ' 0 lost'
finish
