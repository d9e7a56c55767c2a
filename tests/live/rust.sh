# How Rust orders threads: by functions that a program without optimisation has; in an optimised one, unordered events
# are inconclusive.
. tests/tap.sh
need_live "Rust's ways to order threads"
compiler=$(command -v rustc)
if test -z "$compiler" && test "${DPE_LIVE:-}" != require; then
	echo 'ok - Rust # skip there is no rustc'
	exit 0
fi

# found: the cases with a finding
found() {
	grep -o 'wrong_[a-z_]*' err | sort -u
}

# checks COMPILER
checks() {
	"$1" -g "$TOP/tests/live/targets/sync.rs" -o plain 2>errors || {
		not_ok "$1 builds the program"
		explain "$(cat errors)"
		return
	}
	for i in 1 2 3; do
		run "$DPE" race --no-predict put,get -- ./plain right
		says "$1: calls ordered by std::sync are no race, run $i" 0 'nothing found' ' 0 lost' 'plain: note: Rust: rust.dpe says what'
	done
	run "$DPE" race --all --max-findings=0 --no-predict put,get -- ./plain wrong
	found >names
	./plain list | grep '^wrong' | sort >wanted-names
	check "$1: the program has at least 4 wrong cases" "$(lines wanted-names)" -ge 4
	same "$1: the race of each wrong case is found" names <wanted-names
}
checks "$compiler"
test "$compiler" = /usr/bin/rustc || test ! -x /usr/bin/rustc || checks /usr/bin/rustc
run "$DPE" race --no-predict put,get -- ./plain inlined_atomic
says 'a race of calls that atomics may order comes with a warning' 1 'synchronises by atomic instructions' \
	'what was reported as unordered may be ordered by them'
run "$DPE" deadlock -- ./plain right
says 'dpe deadlock says that deadlocks of std::sync locks are not found' 0 'deadlocks of the locks of std::sync are not found' "'dpe hang -p PID'"
"$compiler" -O -g "$TOP/tests/live/targets/sync.rs" -o optimised || not_ok 'building optimised'
run "$DPE" race --all --no-predict put,get -- ./optimised right
says 'optimised: ordered calls are inconclusive, as std::sync is inlined' 3 'note: Rust: rust.dpe says what std::sync orders, where it is not inlined' \
	'inconclusive verdict on put' 'std::sync is inlined in optimised, so what it orders is not observed: build it without optimisation'
run "$DPE" race --no-predict put,get -- ./optimised wrong_mutex
says 'optimised: a race is inconclusive, and its events are shown' 3 '1 inconclusive' 'sync::wrong_mutex'
run "$DPE" race --no-predict put,get -- ./optimised right_join
says 'optimised: calls ordered by a join are no race' 0 'nothing found'
cat >closures.rs <<'X'
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
static TAKEN: AtomicBool = AtomicBool::new(false);
static mut VALUE: i32 = 0;
#[inline(never)]
#[no_mangle]
pub fn put(x: i32) { unsafe { VALUE = x } }
#[inline(never)]
#[no_mangle]
pub fn get(x: i32) -> i32 { unsafe { VALUE + x } }
fn lock() { while TAKEN.swap(true, Ordering::Acquire) {} }
fn unlock() { TAKEN.store(false, Ordering::Release) }
fn main() {
	let one = thread::spawn(|| { lock(); put(1); unlock() });
	let other = thread::spawn(|| { lock(); let x = get(1); unlock(); println!("{}", x) });
	one.join().unwrap();
	other.join().unwrap();
}
X
"$compiler" -O -g closures.rs -o closures || not_ok 'building closures'
run "$DPE" race --no-predict put,get -- ./closures
says 'optimised: calls ordered by atomics in the closures of threads are inconclusive' 3 'inconclusive verdict on put' 'std::sync is inlined in closures'
"$compiler" -g closures.rs -o closures || not_ok 'building closures'
run "$DPE" race --no-predict put,get -- ./closures
says 'calls ordered by atomics in the closures of threads come with a warning' 1 'synchronises by atomic instructions, in '
finish
