# Stacks with calls that the compiler inlined.
. tests/tap.sh
need_live 'stacks with inlined calls'

printf 'detect a: deposit(n) [n == 1]\ndetect b: begins(n)\n' >calls.dpe
run "$DPE" run --all --stack=2 --show-suppressions -s calls.dpe -- "$BUILD/targets/inlined"
sed 's/  thread.*//; s/+0x[0-9a-f]*//; s,tests/probes/targets/,,; /^dpe/d
	s/^\( *at .*\):[0-9]*)/\1)/' err >shown
same 'inlined calls are in the stack' shown <<'X'
#1 a: match of deposit(n) [n == 1]  [calls.dpe:1]
  where n = 1
  $1 deposit(1)
       at deposit (inlined.c)
       by deposit_both (inlined) (inlined.c:13)
       by work (inlined.c:19)
  suppression rule:a function:deposit
#2 a: match of deposit(n) [n == 1]  [calls.dpe:1]
  where n = 1
  $1 deposit(1)
       at deposit (inlined.c)
       by deposit_twice (inlined) (inlined.h:9)
       by deposit_both (inlined) (inlined.c:14)
       by work (inlined.c:19)
  suppression rule:a function:deposit
#3 b: match of begins(n)  [calls.dpe:2]
  where n = 2
  $1 begins(2)
       at begins (inlined.c)
       by main (inlined.c:32)
  suppression rule:b function:begins
X
echo 'function:deposit_twice' >known
run "$DPE" run --suppressions=known --stack=2 -s calls.dpe -- "$BUILD/targets/inlined"
says 'a suppression by the name of an inlined function applies' 1 '2 matches, 1 suppressed'

# ---- functions that have no code of their own --------------------------------------------------------
cat >store.cc <<'X'
struct Store {
	volatile int size;
	void put() { size++; }
	template <class T> int find(T) { return size; }
};
namespace depot {
static inline int look(Store &store) { return store.size; }
}
int main()
{
	Store store = {};

	store.put();
	return depot::look(store) + store.find(1) - 2;
}
X
g++ -g -O2 store.cc -o store || not_ok 'compiling store.cc'
for name in Store::put Store::find depot::look; do
	run "$DPE" run -e "detect a: $name" -- ./store
	says "a function of C++ that is inlined everywhere, $name: an error that says so" 2 "no function '$name' in store" \
		'note: the compiler inlined it everywhere in store: to observe it, compile with -fno-inline'
done
run "$DPE" race depot::look -- ./store
says 'dpe race of a function that is inlined everywhere, as if it were a variable: an error that says so' 2 "'depot::look' cannot be watched" \
	'it is a function that the compiler inlined everywhere' 'write it twice: depot::look,depot::look'
run "$DPE" run -e 'detect a: "Store::find<int>(int)"' -- ./store
says 'so is an instance of a template that is inlined everywhere' 2 'the compiler inlined it everywhere in store'
run "$DPE" run -e 'detect a: Store::get' -- ./store
says 'a function of C++ that does not exist is not called inlined' 2 "no function 'Store::get' in store or its libraries"
check 'and nothing is said about inlining' "$(grep -c inlined err)" = 0
cat >count.cc <<'X'
struct Count { volatile int value; void up(); int now() const { return value; } };
__attribute__((noinline)) void Count::up() { value++; }
int main() { Count count = {}; count.up(); return count.now() - 1; }
X
g++ -O2 count.cc -o count || not_ok 'compiling count.cc'
run "$DPE" run -e 'detect a: Count::now' -- ./count
says 'a method that is inlined in a program without debug information: the error says that it may be' 2 \
	"error: no function 'Count::now' in count or its libraries" "count has other functions of 'Count': the compiler may have inlined this one"
run "$DPE" run -e 'detect a: Account::now' -- ./count
says 'a class that does not exist: the error says so' 2 "no class, namespace, program or library there is called 'Account'; the files are count, "
strip count
run "$DPE" run -e 'detect a: Count::up' -- ./count
says 'a method in a stripped program: the error says that it is stripped' 2 "no function 'Count::up' in count" 'count has no symbols (it is stripped'
check 'and does not list the libraries' "$(grep -c 'the files are' err)" = 0
g++ -g -O2 -fno-inline store.cc -o store || not_ok 'compiling store.cc again'
run "$DPE" run -e 'detect a: Store::put' -- ./store
says 'and compiled with -fno-inline it is observed' 1 'Store::put('

# An object that is deleted by a pointer to its base.
cat >deleted.cc <<'X'
struct shape { shape(); virtual ~shape(); };
struct circle : shape { circle(); ~circle() override; };
int total;
shape::shape() { asm volatile(""); total++; }
shape::~shape() { asm volatile(""); total--; }
circle::circle() { asm volatile(""); total += 2; }
circle::~circle() { asm volatile(""); total -= 2; }
__attribute__((noinline)) void end(shape *s) { asm volatile(""); delete s; }
int main() { end(new circle); return total; }
X
for how in -O0 -O1 -O2; do
	g++ -g $how deleted.cc -o deleted || not_ok 'compiling deleted.cc'
	run "$DPE" run -e 'detect ended: circle::~circle' -- ./deleted
	says "compiled with $how, an object that is deleted is destroyed once" 1 'ended: match' '1 rule: 1 match'
	check "compiled with $how, nothing is said about its destructor" "$(grep -c inlined err)" -eq 0
done

# A method that is called through a pointer to the second base: by a thunk, which contains it, or jumps to it.
cat >thunks.cc <<'X'
struct first { int x; virtual ~first() {} };
struct second { int n; virtual void add(int i) = 0; virtual ~second() {} };
struct both : first, second { METHOD void add(int i) override; };
struct apart : virtual second { METHOD void add(int i) override; };
void both::add(int i) { n += i; }
void apart::add(int i) { n += i; }
__attribute__((noinline)) void use(second *s) { asm volatile(""); s->add(1); }
int main(int argc, char **) { use(argc > 1 ? static_cast<second *>(new apart) : new both); }
X
g++ -g -O2 -DMETHOD= thunks.cc -o thunks || not_ok 'compiling thunks.cc'
run "$DPE" run -e 'detect a: both::add' -- ./thunks
says 'a method that a thunk contains gets a warning' 3 "the compiler inlined 'add', in 'non-virtual thunk to both::add(int)' for one" \
	'declare it __attribute__((noinline))'
run "$DPE" run -e 'detect a: apart::add' -- ./thunks apart
says 'a method that a virtual thunk contains gets a warning' 3 "the compiler inlined 'add', in 'virtual thunk to apart::add(int)' for one"
for how in '-O0 -DMETHOD=' '-O2 -DMETHOD=__attribute__((noinline))' '-O2 -fPIC -DMETHOD=__attribute__((noinline))'; do
	g++ -g $how thunks.cc -o thunks || not_ok 'compiling thunks.cc'
	run "$DPE" run -e 'detect a: both::add' -- ./thunks
	says "compiled with $how, a method is observed behind its thunk" 1 'a: match' '1 rule: 1 match'
	check "compiled with $how, nothing is said about its thunk" "$(grep -c inlined err)" -eq 0
done
finish
