# dpe race: variables and pairs of functions, with and without something that orders the accesses.
. tests/tap.sh
need_live 'the race watch' '[first]'
compile_target races
often=4
test -n "${DPE_TEST_LONG:-}" && often=40

# watch NAME STATUS WAY WORD...: $often runs have the status
watch() {
	name=$1 wanted=$2 way=$3
	shift 3
	times=0
	while test $times -lt $often; do
		for i in 1 2 3 4; do
			(timeout -s KILL 200 "$DPE" race "$@" -- ./races "$way" >out.$i 2>err.$i; echo $? >status.$i) &
		done
		wait
		for i in 1 2 3 4; do
			status=$(cat status.$i)
			cp out.$i out
			cp err.$i err
			test "$status" -eq "$wanted" || break 2
			times=$((times + 1))
		done
	done
	command_line="dpe race $* -- ./races $way"
	check "$name: $often times of $often" $times -eq $often
}

watch 'a write and a read of a variable are a race' 1 race counter
says 'the report has the write and the read with their threads and places' 1 'data race on counter: ' ' by thread ' 'at put+' 'at get+' races.c:
check 'the report has two accesses' "$(grep -c '^  \$[12] ' err)" -eq 2
watch 'two writes of a variable are a race' 1 writes counter
watch 'a write that does not change the value and a read are a race' 1 same counter
watch 'two reads are no race' 0 read counter
watch 'accesses under a lock are no race' 0 locked counter
watch 'accesses ordered by a join are no race' 0 joined counter
watch 'unordered calls of two functions are a race' 1 race put,get
watch 'unordered calls of one function are a race' 1 writes put,put
watch 'so they are if the second has a caret' 1 writes put,put^
watch 'calls of two functions under a lock are no race' 0 locked put,get
watch 'a variable and a pair of functions are watched at once' 1 race other counter put,get

# ---- objects -------------------------------------------------------------------------------------
compile_target owners
run "$DPE" race put,put put,get -- ./owners
says 'calls with an object for each thread are no race, and put(_),get(_) is suggested' 0 'nothing found' \
	"put,get: calls with the same first argument (struct queue *); write 'put(_),get(_)' for all calls"
run "$DPE" race put,put.exit -- ./owners one
says 'calls with the same object are a race' 1 'match of put(object)&put(object).exit' 'where object = 0x'
run "$DPE" race 'put(_),get(_)' -- ./owners
says 'put(_),get(_) finds a race of calls with any objects' 1 'match of put(_)&get(_)'


# An object at the address of a freed one: another object only for who observes allocations. The note has the rule.
compile_target reused
reused() {
	run env GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0 "$DPE" race "$@"
}
reused use,use -- ./reused
says 'objects at one address count as one, and a note says so' 1 'match of use(object)&use^(object)' 'the next object at its address, both count as one'
check 'the objects had one address' "$(cat out)" = 'same address'
reuse=$(sed -n "s/^dpe race: note: .* add -e '\(.*\)'$/\1/p" err)
reused use,use -e "$reuse" -- ./reused
says 'the rule of that note distinguishes objects at one address' 0 'nothing found'
check 'with that rule, too, the objects had one address' "$(cat out)" = 'same address'
reused use,use -e "$reuse" -- ./reused shared
says 'with the rule of that note, calls with the same object are a race' 1 'match of use(object)&use^(object)'

# ---- names of C++ ----------------------------------------------------------------------------------
for word in put+main,get '(put+main),(put+main)' 'put,put+get' 'put;get,put' '(put),get'; do
	run "$DPE" race "$word" -- ./races race
	says "dpe race '$word' is refused, with what to write" 2 "'$word': a pair has one function on each side; several pairs are several words, get,put peek,put" \
		"-e 'detect race: (get + peek) & put'"
done

cat >instances.cc <<'X'
#include <thread>
template <typename T, typename U = T> struct box {
	T last = 0;
	__attribute__((noipa)) void put(T value) { last = value; }
	__attribute__((noipa)) T get() { return last; }
	__attribute__((noipa)) T get(T other) { return last + other; }
	__attribute__((noipa)) T peek() const { return last; }
	void clear() { last = 0; }
};
box<int> ints, others;
box<char> chars;
__attribute__((noipa)) void take(box<int *> by_value) { ints.last += !by_value.last; }
box<long, char> longs;
int main()
{
	std::thread one([] { ints.put(1); longs.put(2); take({}); });
	std::thread other([] { ints.get(); ints.get(1); longs.get(3); ints.clear(); others.peek(); chars.clear(); take({}); });

	one.join();
	other.join();
}
X
${CXX:-g++} -g -O2 -pthread instances.cc -o instances || not_ok 'compiling instances.cc'
# pairs WORD STATUS PART...
pairs() {
	word=$1 wanted=$2
	shift 2
	run "$DPE" race "$word" -- ./instances
	says "dpe race '$word'" "$wanted" "$@"
}
pairs 'box<long>::put,box<int>::put' 0 'nothing found'
pairs 'box<int>::put,"box<int>::get()"' 1 'match of "box<int>::put"(object)&"box<int>::get()"(object)'
pairs 'box<long, char>::put,"box<long>::get(long)"' 1 'match of "box<long, char>::put"(object)&"box<long>::get(long)"(object)'
pairs 'box<int>::put,box<int>::peek' 0 'with the same first argument (box *)' 'nothing found'
pairs 'take,take' 1 'match of take&take^'
pairs 'box<char>::clear,box<int>::put' 2 "no function 'box<char>::clear'" 'the compiler inlined it everywhere'
pairs 'box::put,box::put' 0 'with the same first argument (box *)' 'nothing found'
pairs 'box<int>::put,box<int>::get' 2 'more than one function' 'note: "box<int, int>::get(int)"' 'note: "box<int, int>::get()"' \
	'  |               ^~~~~~~~~~~~~'
pairs 'box::put,box::clear' 2 'the compiler inlined it everywhere'
pairs 'box<int>::plop,box::put' 2 "no function 'box<int>::plop'" '  | ^~~~~~~~~~~~~~'
cat >operators.cc <<'X'
#include <string>
#include <thread>
struct money {
	long cents = 1;
	[[gnu::noipa]] ~money() { cents = 0; }
	[[gnu::noipa]] money &operator+=(long more) { cents += more; return *this; }
	[[gnu::noipa]] bool operator<(const money &other) const { return cents < other.cents; }
	[[gnu::noipa]] long operator()(long times) const { return cents * times; }
	[[gnu::noipa]] explicit operator bool() const { return cents; }
	[[gnu::noipa]] long operator[](long at) const { return cents + at; }
};
[[gnu::noipa]] void spend(money &from) { from.cents--; }
int main()
{
	money purse, other;
	std::string text;
	std::thread thread([&] { spend(purse); purse += 2; });

	{ money third; }
	text += (purse < other) + purse(3) + !!purse + purse[1] ? "x" : "y";
	thread.join();
}
X
${CXX:-g++} -g -O1 -pthread operators.cc -o operators || not_ok 'compiling operators.cc'
for word in 'operator<,spend' 'spend,operator+=' 'spend,money::operator()' 'operator()(_, 3),spend' 'spend,operator[].exit' \
	'spend,operator bool' 'spend,~money' 'spend,money::~money'; do
	run "$DPE" race "$word" -- ./operators
	case $word in
	spend,operator+=) says "dpe race '$word': an operator of the program's own, not that of a string, is observed" 0 'nothing found' ;;
	*) says "dpe race '$word': operators and destructors of C++ need no quotes" 1 ' match of ' ;;
	esac
done
for word in 'operator<' '~money'; do
	run "$DPE" race "$word" -- ./operators
	says "dpe race '$word': an operator or a destructor is no variable" 2 "'$word' is no variable; a pair of functions is written with a comma"
done
run "$DPE" run -e 'detect r: spend & money::operator()' -- ./operators
says 'an operator() without quotes in a rule is refused' 2 'the name of an operator is written in quotes, as dpe list prints it'
cat >two.cc <<'END'
#include <thread>
struct queue { int items; };
namespace {
__attribute__((noipa)) void put(queue *q) { q->items++; }
__attribute__((noipa)) void get(queue *q) { q->items--; }
}
int main(int count, char **)
{
	queue queues[2] = {};
	std::thread putting([&] { put(&queues[0]); }), getting([&] { get(&queues[count == 1]); });
	putting.join(), getting.join();
}
END
${CXX:-g++} -g -pthread two.cc -o two || not_ok 'compiling two.cc'
run "$DPE" race put,get -- ./two
says 'methods of the C++ library that are called put and get are not taken for global functions' 0 'with the same first argument (queue *)' 'nothing found'
run "$DPE" race put,get -- ./two one
says 'put and get of one queue are a race' 1 'match of put(object)&get(object)'

# Without debug information, names do not show whether a function is a method.
cat >methods.cc <<'END'
#include <thread>
struct box {
	int items = 0;
	__attribute__((noipa)) void put(int n) { items += n; }
	__attribute__((noipa)) int get() { return items--; }
	__attribute__((noipa)) void add(const int &n) { items += n; }
};
static void use(box *own)
{
	own->put(1), own->add(own->get());
}
int main()
{
	static box boxes[2];
	std::thread one(use, &boxes[0]), other(use, &boxes[1]);
	one.join(), other.join();
}
END
${CXX:-g++} -O2 -pthread methods.cc -o methods || not_ok 'compiling methods.cc'
run "$DPE" race box::put,box::get -- ./methods
says 'without debug information, a note says that all calls count' 1 \
	"box::put,box::get: all calls, as there is no debug information that says whether they are methods; write 'box::put(object),box::get(object)' for"
run "$DPE" race 'box::put(object),box::get(object)' -- ./methods
says 'what the note suggests follows each object' 0 'nothing found'
run "$DPE" race box::add,box::add -- ./methods
says 'without debug information, the type of a parameter is not taken for that of the object' 0 \
	"with the same first argument (of a method the object); write" 'nothing found'

# ---- the locks that were held ----------------------------------------------------------------
# held: the locks of each access, sorted, as either access may come first in the report
held() {
	sed -n 's/^  \$[12] .*  \(lock.*\)  thread.*/\1/p; s/^  \$[12] .*, \(lock = .*\)  thread.*/\1/p' err | sort -u | tr '\n' ';'
}
locks='lock = another, lock2 = table.guard;lock = table.guard;'
run "$DPE" race put,get -- ./races guarded
says 'two functions under different locks are a race' 1 'race_put_get: match'
check 'the report of two functions names the locks held' "$(held)" = "$locks"
run "$DPE" race counter -- ./races guarded
says 'accesses of a variable under different locks are a race' 1 'data race on counter: '
check 'the report of two accesses names the locks held' "$(held)" = "$locks"
run "$DPE" race --preload counter -- ./races guarded
check '--preload: the report of two accesses names the locks held' "$status $(held)" = "1 $locks"

run "$DPE" race --format=sarif put,get -- ./races guarded
check 'SARIF of two functions names the locks held' "$(grep -o 'which holds [a-z., ]*' out | sort | tr '\n' ';')" = \
	'which holds another, table.guard;which holds table.guard;'

# ---- a variable whose accesses are in functions that are observed as well ----------------------
run "$DPE" race counter put,get -- ./races race
check 'an access of a probed instruction is reported at its place in the program' "$(grep -c 'at put+\|at get+' err) $(grep -c 'at 0x' err)" = '4 0'

run "$DPE" race ' counter ' -- ./races race
says 'blanks around the name of a variable do not matter' 1 'data race on counter: '
echo 'int setting = 3; int main(void) { return *(volatile int *)&setting - 3; }' >setting.c
cc -g setting.c -o setting || not_ok 'compiling setting.c'
run "$DPE" race setting -- ./setting
says 'a variable that is only read: its events are named without the conditions on them' 0 \
	"race_setting: [setting'] was never observed, [setting] occurred 1 time"
check 'and once' "$(grep -c '\.access' err) $(grep -o 'occurred' err | wc -l)" = '0 1'
run "$DPE" race 'put get' -- ./races race
says 'two words in one are refused, and a pair is suggested' 2 "'put get' is no variable; a pair of functions is written with a comma, get,put"
check 'two words in one are reported once' "$(grep -c error err)" -eq 1
run "$DPE" race put,get,put -- ./races race
says 'three functions in a word are refused' 2 "'put,get,put': a pair has two functions"
run "$DPE" race
says 'dpe race without arguments is refused' 2 'nothing to watch'
run "$DPE" race counter
says 'dpe race without a program is refused' 2 'no target'
for command in race deadlock run record explore; do
	run "$DPE" $command ./races race
	says "dpe $command of a program without -- says where it belongs" 2 "'./races' is a program: put it after '--': dpe $command -- ./races"
done
run "$DPE" race countre -- ./races race
says 'a misspelt variable gets a suggestion' 2 "dpe race: error: 'countre' cannot be watched" "has no variable 'countre'" "'counter'" '  | countre' '  | ^~~~~~~'
check 'the program is not started with a misspelt variable' ! -s out
run "$DPE" race counter -- sh -c './races race'
says 'a variable of a program that another one starts is refused, with a way out' 2 "has no variable 'counter'" \
	'can start other programs, and a watchpoint is for one process: start the program that has the variable, or name its process with -p PID'
run "$DPE" race malloc -- ./races race
says 'a function of a library alone is refused as a function' 2 "'malloc' cannot be watched: it is a function of libc.so.6: dpe race takes a pair, such as malloc,malloc"
run "$DPE" race 'put,gte(x)' -- ./races race
says 'a misspelt function gets a suggestion' 2 "dpe race: error: no function 'gte' in" '  | put,gte(x)' '  |     ^~~' "did you mean 'get'"
run "$DPE" race -e 'detect r: putt' counter,gte -- ./races race
says 'misspelt functions in a rule and in an argument are shown' 2 'command line:1:11: error: ' '  | detect r: putt' '  | counter,gte'
run "$DPE" race 'put(,get' -- ./races race
says 'a word with a bracket that is not closed is refused' 2 "'put(,get' is no name of a variable"
check 'a bracket that is not closed is reported once' "$(grep -c 'error' err) $(grep -c 'detect\|predict' err)" = '1 0'
run "$DPE" race 'put,get)' -- ./races race
says 'a bracket that closes nothing is shown' 2 'this ) closes nothing' '  | put,get)'
run "$DPE" race --plan counter put,get -- ./races race
check '--plan lists the watchpoint of a variable' "$(grep -c 'counter: reads and writes, by a watchpoint' out)" -eq 1

# Two atomic accesses are no race: locked instructions, and any access to an object of an atomic type.
${CXX:-g++} -std=c++17 -g -O1 -pthread "$TOP/tests/live/targets/atomics.cc" -o atomics || not_ok 'compiling atomics.cc'
for variable in total state.number state.flag inner::count 'several[1]' built_in exchanged; do
	run "$DPE" race "$variable" -- ./atomics
	says "atomic accesses to $variable are no race" 0 'nothing found' ' 0 lost'
done
run "$DPE" race mixed -- ./atomics
says 'an atomic and a plain write of a variable are a race' 1 'data race on mixed: ' 'atomic write by thread' ' write by thread' 'atomics.cc:'
run "$DPE" record -e "detect m: [mixed'] [.access = \"atomic write\"]" -o atomic.jsonl -- ./atomics
check 'the log distinguishes atomic and plain writes' "$(grep -c '"ret":"atomic write"' atomic.jsonl) $(grep -c '"ret":"write"' atomic.jsonl)" = '8 2'
finish
