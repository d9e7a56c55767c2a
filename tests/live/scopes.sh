# Variables by their C++ names, and variables of libraries.
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
	check "$1: members of classes, bases and unnamed structures are observed" "$(grep -o '^#[0-9]* [a-z_]*\|^base: .*' err | sed 's/^#[0-9]* //' | sort | uniq -c | tr -s ' \n' ' ')" = \
		' 3 base 1 base: state 1 1 base: state 2 1 base: state 3 1 deeper 1 nameless 1 read 1 static_member '
}
if command -v clang++ >where; then
	clang++ -g -O0 "$targets/scopes.cc" -o by_clang -pthread -L. -Wl,--no-as-needed -lscopes -ltwice || not_ok 'compiling with clang++'
	finds_names by_clang
fi
finds_names scopes
says 'the report has the C++ names of variables' 1 "[shop::thing.state']  shop::thing.state = 1 (was 0)" 'shop::hidden = 3'
run "$DPE" race hidden -- ./scopes
says 'a variable without its namespace gets a suggestion' 2 "scopes has no variable 'hidden'; did you mean 'shop::hidden'?"
run "$DPE" race nobody::hidden -- ./scopes
says 'a variable with a wrong namespace gets a suggestion' 2 "no variable 'nobody::hidden'; did you mean 'shop::hidden'?"
printf 'detect r: f { shop::hidden = 3; }\n' >assigned.dpe
run "$DPE" check assigned.dpe
says 'an assignment to a variable with a C++ name is refused' 2 'only a `var` of the specification can be assigned to'

# ---- virtual functions --------------------------------------------------------------------------
cat >shapes.cc <<'X'
struct shape { virtual double area() = 0; };
namespace geo { struct solid { virtual int volume(int n) = 0; }; struct cube : solid { int volume(int n) override; }; }
struct circle : shape { double area() override; };
double circle::area() { return 3; }
int geo::cube::volume(int n) { return n; }
int main() { circle c; geo::cube d; shape *volatile s = &c; geo::solid *volatile t = &d; return s->area() + t->volume(1) > 9; }
X
${CXX:-g++} -g shapes.cc -o shapes || not_ok 'compiling shapes.cc'
for name in shape::area geo::solid::volume '"shape::area"' solid::volume; do
	run "$DPE" run -e "detect r: $name" -- ./shapes
	says "$name, a pure virtual function: one line says so" 2 'in shapes' \
		'note: it is a virtual function that has no code in shapes: observe those of the classes that override it'
	check "$name: no list of libraries" "$(grep -c libc err)" = 0
done
run "$DPE" run -e 'detect r: circle::area & circle::area^' -e 'detect s: cube::volume' -- ./shapes
says 'what overrides it is observed' 1 's: match' 'cube::volume('

# ---- of libraries ----------------------------------------------------------------------------
run "$DPE" race counter -- ./scopes
says 'a race on a variable of a library is found' 1 'data race on counter: ' 'counter = 7 (was 0)' 'at bump+' 'scopes-library.c:' ' 0 lost'
cat >library.dpe <<'X'
detect made: [libscopes::hidden'] { printf("%d", libscopes::hidden); }
detect called: bump(n) [libscopes::hidden = 40 && copied = n]
detect never: bump(n) [libscopes::hidden > 41 || copied != n]
detect shared: [libscopes::both']
X
run "$DPE" run --all -s library.dpe -- ./scopes in-turn
check 'a variable of a library is watched from its constructor on' "$(grep '^made: [0-9]' err | tr '\n' ' ')" = 'made: 40 made: 41 made: 42 '
check 'conditions over library variables hold, also over one copied into the program' \
	"$(grep -c 'called: match' err) $(grep -c 'never: match' err)" = '1 0'
check 'of two libraries with the variable, the named one is watched' "$(grep -c 'shared: match' err)" -eq 2
run "$DPE" race both -- ./scopes
says 'a variable of two libraries is refused without the name of the library' 2 "both libscopes.so and libtwice.so have it: write libscopes::both"
run "$DPE" race libscopes::second -- ./scopes
says 'a variable with the name of a wrong library is refused' 2 "no variable 'libscopes::second'"
printf 'detect r: bump [libscopes::hidden = 41]\n' >follow.dpe
run "$DPE" run --follow -s follow.dpe -- ./scopes
says 'variables of libraries are refused with --follow' 2 'which each process may have at another address (without --follow or dpe explore)'
finish
