# Programs of all kinds: static, stripped, with versions of symbols, with named threads, of Rust.
. tests/tap.sh
need_live 'kinds of programs'

count_seen() {
	grep -c "$1" err
}

# built NAME FLAGS...: compiles kinds.c to the file NAME
built() {
	name=$1
	shift
	${CC:-cc} -g -O1 -pthread "$TOP/tests/live/targets/kinds.c" -o "$name" "$@" || not_ok "compiling $name"
}
echo 'detect own(x): own(x).exit { print(x, $1.ret); }
detect reader(x): own(x) [.comm = "reader"] { print(x, $1.comm); }' >own.dpe
for kind in '-static' '-static-pie' '-fPIE -pie' '-fno-pie -no-pie' '-s -rdynamic'; do
	built program $kind
	run "$DPE" run --all -s own.dpe -- ./program
	check "functions of a program built with $kind are observed" "$(count_seen '^own: 1 2$') $(count_seen '^own: 5 6$') $(count_seen ' 0 lost')" = '1 2 1'
	check 'the output of the program is the same as without dpe' "$(cat out)" = 2
done
check 'a condition selects a thread by its name' "$(count_seen '^reader: 5 reader$') $(count_seen '^reader: ')" = '1 1'
check 'the report has the names of threads' "$(count_seen 'thread [0-9]* (reader)') $(count_seen 'thread [0-9]* (a writer)')" = '2 1'
built program -s
run "$DPE" run -s own.dpe -- ./program
says 'an unknown function of a stripped program is explained by the missing symbols' 2 "no function 'own' in program" 'it is stripped'
built program -s -static
run "$DPE" deadlock -- ./program
says 'shipped rules cannot find anything in a stripped program without libraries' 3 \
	'program: warning: has none of the functions that the rules name (it is stripped' 'nothing was observed, so nothing can have been found'
run "$DPE" deadlock --format=json -- ./program
check 'JSON has the reason why they cannot' "$status $(grep -c '"type":"summary".*"reason":"nothing was observed, so nothing can have been found' out)" = '3 1'
run "$DPE" run -s pthread.dpe -e 'detect created: thread::create' -- ./program
says 'threads of a stripped program without libraries are observed' 1 'has none of the functions' 'created: match'

cat >versions.c <<'C'
__attribute__((noipa)) int twice_old(int number)
{
	return number + number;
}
__attribute__((noipa)) int twice_new(int number)
{
	return 2 * number + 1;
}
__asm__(".symver twice_old,twice@OLD\n.symver twice_new,twice@@NEW");
C
printf 'OLD { global: twice; local: *; };\nNEW { global: twice; } OLD;\n' >versions.map
${CC:-cc} -g -O1 -shared -fPIC versions.c -o libversions.so -Wl,--version-script=versions.map ||
	not_ok 'compiling versions.c'
built versions -DVERSIONS -L. -lversions '-Wl,-rpath,$ORIGIN'
echo 'detect twice(x): libversions::twice(x).exit { print(x, $1.ret); }' >twice.dpe
run "$DPE" run --all -s twice.dpe -- ./versions
check 'both versions of a function are observed by its plain name' "$(count_seen '^twice: 10 20$') $(count_seen '^twice: 10 21$') $(count_seen ': match')" = '1 1 2'
check 'the output of a program with two versions of a function is unchanged' "$(cat out)" = 43
cat >version.dpe <<'DPE'
detect old(x): "twice@OLD"(x).exit { print(x, $1.ret); }
detect new(x): "twice@NEW"(x) + "twice@@NEW"(x) { print(x); }
detect allocated(n): libc::malloc(n).exit [n >= 4096] { print($1.ret != 0); }
DPE
run "$DPE" run --all -s version.dpe -- ./versions
check 'a version of a function is observed by its name with the version' "$(count_seen '^old: 10 20$') $(count_seen '^old: ') $(count_seen '^new: 10$')" = '1 1 2'
check 'a function of the stripped C library is observed' "$(count_seen '^allocated: 1$')" -ge 1
echo 'detect none: "twice@@OLD"' >version.dpe
run "$DPE" run -s version.dpe -- ./versions
says 'a version that is not the default is unknown under its name with @@' 2 "no function 'twice@@OLD'"

if ! command -v rustc >/dev/null; then
	echo 'ok - a program of Rust # skip rustc is not installed'
	finish
fi
cat >shop.rs <<'RS'
struct Queue { items: Vec<i64> }
impl Queue {
    #[inline(never)]
    fn push(&mut self, item: i64) -> i64 { self.items.push(item); self.items.len() as i64 }
}
#[inline(never)]
fn checkout(total: i64) -> i64 { total + 1 }
fn main() {
    let worker = std::thread::Builder::new().name("cashier".into()).spawn(|| {
        let mut queue = Queue { items: Vec::new() };
        for item in 7..10 { queue.push(std::hint::black_box(item)); }
        checkout(std::hint::black_box(3))
    }).unwrap();
    println!("{}", worker.join().unwrap());
}
RS
printf 'detect push(q, x): Queue::push(q, x) { print(x); }\ndetect pay(x): shop::checkout(x) { print(x); }\n' >shop.dpe
for mangling in '' '-C symbol-mangling-version=v0'; do
	if ! rustc -g -C opt-level=1 $mangling shop.rs >rustc.out 2>&1; then
		echo "ok - a program of Rust $mangling # skip rustc does not work here: $(head -1 rustc.out)"
		finish
	fi
	run "$DPE" run --all -s shop.dpe -- ./shop
	check "a method and a function of Rust are observed $mangling" \
		"$(grep -cE '^push: [789]$' err) $(count_seen '^pay: 3$')" = '3 1'
done
nm shop >symbols
check 'the program of Rust has symbols of the v0 mangling' "$(grep -c ' _RNv.*checkout' symbols)" -eq 1
check 'the report has the name of a thread of Rust' "$(count_seen 'thread [0-9]* (cashier)')" -ge 4

cat >order.rs <<'RS'
pub struct Big { a: i64, b: i64, c: i64 }
#[inline(never)]
fn big(v: Big, x: i32) -> i64 { std::hint::black_box(v.a + v.b + v.c) + x as i64 }
#[inline(never)]
fn pair(t: (i32, i32), x: i32) -> i32 { std::hint::black_box(t.0 + t.1) + x }
#[inline(never)]
fn perhaps(n: Option<i64>, x: i32) -> i64 { std::hint::black_box(n.unwrap_or(0)) + x as i64 }
#[inline(never)]
fn slice(s: &str, x: i32) -> usize { std::hint::black_box(s).len() + x as usize }
#[inline(never)]
fn made(x: i64) -> [i64; 3] { [x, std::hint::black_box(x), 3] }
fn main() {
    let n = std::env::args().count() as i64;
    println!("{}", big(Big { a: n, b: 2, c: 3 }, n as i32 + 6) + pair((1, n as i32), n as i32 + 14) as i64 +
        perhaps(Some(n), n as i32 + 12));
    println!("{}", (slice("hello", n as i32 + 10) + slice("you", n as i32 + 11)) as i64 + made(n + 20)[0]);
}
RS
cat >order.dpe <<'X'
detect big: order::big(_, x) { print(x); }
detect pair: order::pair(_, x) { print(x); }
detect perhaps: order::perhaps(_, x) { print(x); }
X
cat >known.dpe <<'X'
detect slice: order::slice(_, x) { print(x); }
detect made: order::made(x) { print(x); }
X
for level in 0 2; do
	rustc -g -C opt-level=$level order.rs >rustc.out 2>&1 || not_ok 'compiling order.rs'
	run "$DPE" run --all -s known.dpe -- ./order
	check "Rust, level $level: arguments after a slice, or where an array is returned, are read" \
		"$(grep -E '^[a-z]+: [0-9]+$' err | sort | tr '\n' ' ')" = 'made: 21 slice: 11 slice: 12 '
	run "$DPE" run -s order.dpe -- ./order
	says "Rust, level $level: an argument after a structure is refused" 2 "argument 2 of 'big', which has no value: Rust passes structures"
done
check 'Rust: an argument after a structure is refused before the program starts' ! -s out
finish
