# Variables by the names that C++ has for them, and those of libraries.
. tests/tap.sh
need_live 'variables of C++ and of libraries' '[first]'
targets=$TOP/tests/live/targets
${CC:-cc} -g -O1 -shared -fPIC "$targets/scopes-library.c" -o libscopes.so &&
	${CC:-cc} -g -O1 -shared -fPIC -DTWICE "$targets/scopes-library.c" -o libtwice.so &&
	${CXX:-g++} -g -O1 "$targets/scopes.cc" -o scopes -pthread -L. -Wl,--no-as-needed -lscopes -ltwice ||
	not_ok 'compiling'
LD_LIBRARY_PATH=.
export LD_LIBRARY_PATH

# ---- in namespaces and classes ---------------------------------------------------------------
cat >names.dpe <<'X'
detect base: [shop::thing.state'] { printf("state %d", shop::thing.state); }
detect nameless: [shop::thing.low = 2]
detect deeper: [shop::several[1].state = 3]
detect static_member: [Derived::count = 2]
detect read(p): stride(p, 3) [shop::hidden = 3 && p->state = 2 && p->deep = 3 && shop::Derived::count = 2]
X
# finds_names PROGRAM
finds_names() {
	run "$DPE" run --all -s names.dpe -- "./$1"
	check "of classes, bases and what has no name, in $1" "$(grep -o '^#[0-9]* [a-z_]*\|^base: .*' err | sed 's/^#[0-9]* //' | sort | uniq -c | tr -s ' \n' ' ')" = \
		' 3 base 1 base: state 1 1 base: state 2 1 base: state 3 1 deeper 1 nameless 1 read 1 static_member '
}
if command -v clang++ >where; then
	clang++ -g -O0 "$targets/scopes.cc" -o by_clang -pthread -L. -Wl,--no-as-needed -lscopes -ltwice || not_ok 'compiling with clang++'
	finds_names by_clang
fi
finds_names scopes
says 'by their names' 1 "[shop::thing.state']  shop::thing.state = 1 (was 0)" 'shop::hidden = 3'
run "$DPE" race hidden -- ./scopes
says 'one that was named without its namespace' 2 "scopes has no variable 'hidden'; did you mean 'shop::hidden'?"
run "$DPE" race nobody::hidden -- ./scopes
says 'one of another namespace' 2 "no variable 'nobody::hidden'; did you mean 'shop::hidden'?"
printf 'detect r: f { shop::hidden = 3; }\n' >assigned.dpe
run "$DPE" check assigned.dpe
says 'they cannot be assigned to' 2 'only a `var` of the specification can be assigned to'

# ---- of libraries ----------------------------------------------------------------------------
run "$DPE" race counter -- ./scopes
says 'a race on a variable of a library' 1 'data race on counter: ' 'counter = 7 (was 0)' 'at bump+' 'scopes-library.c:' ' 0 lost'
cat >library.dpe <<'X'
detect made: [libscopes::hidden'] { printf("%d", libscopes::hidden); }
detect called: bump(n) [libscopes::hidden = 40 && copied = n]
detect never: bump(n) [libscopes::hidden > 41 || copied != n]
detect shared: [libscopes::both']
X
run "$DPE" run --all -s library.dpe -- ./scopes
check 'from its constructor on' "$(grep '^made: [0-9]' err | tr '\n' ' ')" = 'made: 40 made: 41 made: 42 '
# Two threads call it: the second may come before the first has counted.
check 'in conditions, and with a copy that the program has of it' \
	"$(grep -c 'called: match' err)" -ge 1 -a "$(grep -c 'never: match' err)" -eq 0
check 'of two libraries that have the name' "$(grep -c 'shared: match' err)" -eq 2
run "$DPE" race both -- ./scopes
says 'which has to be named' 2 "both libscopes.so and libtwice.so have it: write libscopes::both"
run "$DPE" race libscopes::second -- ./scopes
says 'one that another library has' 2 "no variable 'libscopes::second'"
printf 'detect r: bump [libscopes::hidden = 41]\n' >follow.dpe
run "$DPE" run --follow -s follow.dpe -- ./scopes
says 'several processes have them in several places' 2 'which each process may have at another address (without --follow or dpe explore)'
finish
