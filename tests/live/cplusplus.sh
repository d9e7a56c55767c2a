# Functions of C++, by their names in the source.
. tests/tap.sh
need_live 'functions of C++'
target=$BUILD/targets/cplusplus

cat >queue.dpe <<'X'
detect made: queue::queue(q, _).exit ; queue::push(q, 2)
detect twice: twice(2).exit [.ret == 4]
detect took: _ZN4shop5queue4takeEv
X
run "$DPE" run --stack=2 -o log.jsonl -s queue.dpe -- "$target"
sed 's/0x7f[0-9a-f]*/0x7f…/; s/thread.*/thread …/; s/ (.*cplusplus.cc:/ (…:/
	s/+0x[0-9a-f]*//; /^dpe: .*exited/d' err >shown
same 'methods, constructors and functions match by their names and are named in stacks' shown <<'X'
#1 made: match of queue::queue(q, _).exit;queue::push(q, 2)  [queue.dpe:1]
  where q = 0x7f…
  $1 queue::queue.exit(0x7f…, 1)  thread …
       at shop::queue::queue() (…:19)
       by main (…:73)
  $2 queue::push(0x7f…, 2)  thread …
       at shop::queue::push() (…:26)
       by main (…:80)
#2 twice: match of twice(2).exit [.ret == 4]  [queue.dpe:2]
  $1 twice.exit(2) = 4  thread …
       at twice() (…:57)
       by main (…:80)
#3 took: match of _ZN4shop5queue4takeEv  [queue.dpe:3]
  $1 shop::queue::take(0x7f…)  thread …
       at shop::queue::take() (…:31)
       by main (…:81)
#4 took: match of _ZN4shop5queue4takeEv  [queue.dpe:3]
  $1 shop::queue::take(0x7f…)  thread …
       at shop::queue::take() (…:31)
       by shop::queue::take() (…:36)
dpe: 10 events, 0 lost; 3 rules: 4 matches
X
run "$DPE" replay --format=json -s queue.dpe log.jsonl
check 'a replay of the log has the same four matches' "$(grep -c '"match"' out)" -eq 4

cat >life.cc <<'X'
struct pipe {
	int *at;
	[[gnu::noipa]] pipe(int size) : at(new int[size]) {}
	[[gnu::noipa]] virtual ~pipe() { delete[] at; }
};

int main()
{
	pipe *first = new pipe(4), *second = new pipe(5);

	second->at[0] = 1;
	delete first;
}
X
g++ -g -O1 life.cc -o life || not_ok 'compiling life.cc'
run "$DPE" run -e 'expect life(p): (pipe::pipe(p).exit ; pipe::~pipe(p))*' -- ./life
says 'an object without a call of its destructor is an incomplete match' 1 '1 incomplete, 1 satisfied' 'expected pipe::~pipe(p) after pipe::pipe(p).exit'

cat >new.cc <<'X'
int main()
{
	int *kept = new int[4];

	delete new int(*kept);
}
X
g++ -g -O0 -fno-sized-deallocation new.cc -o new || not_ok 'compiling new.cc'
run "$DPE" run -e 'expect memory(p): _Znwm(_).exit = p ; _ZdlPv(p)' -- ./new
says 'the result of operator new is a pointer' 1 'where p = 0x' 'stopped after operator new.exit(16) = 0x' '1 incomplete, 1 satisfied'
run "$DPE" run -e 'expect memory(p): _Znwm(p) ; _ZdlPv(p)' -- ./new
says 'the argument of operator new is a number: a variable cannot be that and a pointer' 1 "'p' is argument 1 of '_Znwm', a number, and argument 1 of '_ZdlPv', a pointer"

cat >states.cc <<'X'
namespace net {
struct socket {
	enum class state { closed, open = 9 } now;
};
}
net::socket one;
__attribute__((noipa)) void change() { one.now = net::socket::state::open; }
__attribute__((noipa)) void look(net::socket *at) { at->now = net::socket::state::open; }
enum color { RED, GREEN = 7 };
__attribute__((noipa)) void paint(color with, int SIZE) { one.now = with || SIZE ? one.now : net::socket::state::closed; }
int main() { change(); look(&one); paint(GREEN, 1); }
X
g++ -g -O1 states.cc -o states || not_ok 'compiling states.cc'
run "$DPE" run -e 'detect r: change [one.now = net::socket::state::open]' -- ./states
says 'an enumerator is refused, and how to write it is said' 2 "states has no variable 'net::socket::state::open'" 'enumerators by their numbers'

printf 'detect r: queue::take\n' >take.dpe
run "$DPE" run -s take.dpe -- "$target"
says 'the name of an overloaded method is refused, with its candidates' 2 'shop::queue::take(int)' 'shop::queue::take()'
# Misspelt names, which are compared with the names in the source, too.
run "$DPE" run -e 'detect a: queue::psuh' -e 'detect b: shop::queue::tkae' -e 'detect c: pusg' -- "$target"
says 'misspelt methods get suggestions: with class, with namespace, and alone' 2 "1:11: note: did you mean 'queue::push'" \
	"2:11: note: did you mean 'shop::queue::take'" "3:11: note: did you mean 'queue::push'"
# The code of the language, 0x21 for C++14, in the units of later standards.
g++ -g -dA -S states.cc -o states.s || not_ok 'compiling states.cc to assembly'
for language in 0x21 0x2a 0x2b 0x3a; do
	sed "s/\.byte	0x21	# DW_AT_language/.byte	$language/" states.s >standard.s
	g++ standard.s -o standard || not_ok "assembling standard.s with $language"
	check "types of C++ with the language $language are printed without 'struct'" \
		"$("$DPE" list ./standard look | grep -c '(socket \*at)')" -eq 1
done

# Classes that are passed by address, if a copy constructor, a move constructor or the destructor is not trivial.
cat >classes.cc <<'X'
#include <string>
#include <vector>
struct plain { long a; plain(long x) : a(x) {} plain(const plain &) = default; ~plain() = default; };
struct derived : plain { long b; derived() : plain(1), b(2) {} };
struct moved { long a; moved(long x) : a(x) {} moved(const moved &) = delete; moved(moved &&); };
struct holder { moved inner; };
template <typename T> struct copied { T a; copied(T x) : a(x) {} copied(const copied &); };
struct several { copied<int> all[2]; };
struct ended { long a; ended(long x) : a(x) {} ~ended(); };
struct polymorphic { long a = 3; virtual long size() { return a; } };
moved::moved(moved &&from) : a(from.a) {}
template <typename T> copied<T>::copied(const copied &from) : a(from.a) {}
ended::~ended() = default;
static void *volatile seen;
#define TAKE(n, type) [[gnu::noipa, gnu::noinline]] void take_##n(type x, int number) { seen = &x; seen = &number; }
TAKE(plain, plain) TAKE(derived, derived) TAKE(moved, moved) TAKE(holder, holder) TAKE(copied, copied<int>)
TAKE(several, several) TAKE(ended, ended) TAKE(polymorphic, polymorphic) TAKE(string, std::string) TAKE(vector, std::vector<int>)
[[gnu::noipa, gnu::noinline]] void take_reference(const std::string &x, int number) { seen = (void *)&x; seen = &number; }
[[gnu::noipa, gnu::noinline]] std::string give_string(int number) { return std::string(number, 'a'); }
struct named { std::string name; [[gnu::noipa, gnu::noinline]] ended give(int number) { return ended(number + (long)name.size()); } };
int main()
{
	take_plain(1, 11); take_derived({}, 12); take_moved(1, 13); take_holder({moved(1)}, 14); take_copied(1, 15);
	take_several({{1, 2}}, 16); take_ended(1, 17); take_polymorphic({}, 18); take_string("one", 19); take_vector({1}, 20);
	take_reference("two", 21); give_string(22); named({"three"}).give(23);
}
X
rules=
for name in plain derived moved holder copied several ended polymorphic string vector reference; do
	rules="$rules -e 'detect $name(n): take_$name(_, n)'"
done
for compiler in g++ clang++; do
	$compiler -w -std=c++17 -g -O1 classes.cc -o classes || not_ok "compiling classes.cc with $compiler"
	eval run '"$DPE"' run $rules "-e 'detect give(n): give_string(n)' -e 'detect method(n): named::give(o, n) [o->name = \"three\"]'" \
		"-e 'detect text(s): take_string(text(s), _)' -e 'detect same: take_reference(\"two\", _)' -- ./classes"
	check "arguments after a class that $compiler passes by address have their values" \
		"$(sed -n 's/^  where n = \([0-9]*\).*/\1/p' err | xargs)" = '11 12 13 14 15 16 17 18 19 20 21 22 23'
	check "text() is that of a std::string, by value or by reference ($compiler)" \
		"$(grep -c '^  where s = "one"$' err) $(grep -c '^#.* same: match' err)" = '1 1'
done
run "$DPE" run -e 'detect r: take_plain(x, n)' -- ./classes
says 'what to write for an argument without a value is said' 2 'it is a structure that is passed by value' 'note: write _ for an argument'
finish
