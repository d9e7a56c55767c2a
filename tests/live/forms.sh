# Programs built and linked in rarer ways: the same values and verdicts, or one line that says why not.
. tests/tap.sh
need_live 'programs built in rarer ways'

cat >form.c <<'C'
#include <stdio.h>
enum level { LOW = 3 };
struct pair { long first; int second; };
struct item { int id; short kind; const char *name; struct pair pairs[2]; };
struct item item = {.id = 7, .kind = 9, .name = "seven", .pairs = {{1, 2}, {3, 4}}};
static inline __attribute__((always_inline)) int tiny(int x) { return 2 * x + 1; }
__attribute__((noinline)) int put(struct item *p, struct pair pair, enum level level, int n)
{
	__asm__ volatile("");
	return p->kind + pair.second + level + tiny(n);
}
__attribute__((noinline)) int twice(int x) { __asm__ volatile(""); return 2 * x; }
int main(int argc, char **argv)
{
	(void)argv;
	printf("%d %d\n", put(&item, item.pairs[argc], LOW, argc + 10), twice(argc + 20));
	return 0;
}
C

# built NAME FLAGS...
built() {
	name=$1
	shift
	${CC:-cc} -O1 form.c -o "$name" "$@" 2>built.err || not_ok "compiling with $*: $(head -1 built.err)"
}

# ---- debug information ---------------------------------------------------------------------------

cat >values.dpe <<'DPE'
detect put(n): put(p, pair, level, n).exit { print(p->kind, p->pairs[1].second, text(p->name), pair.second, level, n, $1.ret, item.kind); }
DPE

# has_all FORM FILE: the values of arguments, members and the result
has_all() {
	run "$DPE" run -s values.dpe -- "./$2"
	check "arguments, members and results are read: $1" "$(grep '^put: ' err)" = 'put: 9 4 seven 4 3 11 39 9'
}

for form in -gdwarf-2 '-gdwarf-4 -fdebug-types-section' '-g -fdebug-types-section' '-g -gsplit-dwarf' '-g -flto'; do
	built form $form
	has_all "$form" form
done
built form -g -gsplit-dwarf
rm -f ./*.dwo
run "$DPE" run -s values.dpe -- ./form
says 'values that a missing .dwo file describes are refused' 2 "form has no debug information that describes the arguments of 'put'"
built form -g1
run "$DPE" run -e 'detect r(x): twice(x) { print(x); }' -- ./form
says 'with -g1 an argument is a number, as without debug information' 1 'r: 21'

# Fortran passes addresses, which its debug information describes as the values there.
${CC:-cc} -g -O1 -S -dA form.c -o c.s && sed '/byte.*DW_AT_language/s/0x[0-9a-f]*/0x23/' c.s >fortran.s && ${CC:-cc} fortran.s -o form ||
	not_ok 'compiling for another language'
run "$DPE" run -e 'detect r(x): twice(x)' -- ./form
says 'an argument of a language with a convention of its own is refused' 2 "argument 1 of 'twice', which has no value: its language passes"
run "$DPE" run -e 'detect r: twice' -- ./form
says 'a function of such a language is observed without its arguments' 1 'r: match of twice'
if command -v dwz >/dev/null; then
	built form -g
	cp form other
	dwz -m common.dwz form other || not_ok 'dwz'
	has_all 'with a common file of dwz' form
	run "$DPE" run -e 'detect r: tiny' -- ./form
	says 'an inlined function in the common file of dwz is explained' 2 'the compiler inlined it everywhere in form'
	rm common.dwz
	run "$DPE" run -e 'detect r(n): put(_, _, _, n)' -- ./form
	says 'an argument after one whose type is in a missing file is refused' 2 "argument 4 of 'put', which has no value: its type, or that of an" \
		'(a common file of dwz, or a .dwo file)'
	run "$DPE" run -e 'detect r(p): put(p, _, _, _)' -- ./form
	says 'a first argument whose type is in a missing file is refused' 2 "argument 1 of 'put', which has no value"
else
	ok 'a common file of dwz # skip dwz is not installed'
fi

if command -v clang++ >/dev/null; then
	cat >home.h <<'C'
struct pair { long first, second; pair(long x); };
C
	cat >home.cc <<'C'
#include "home.h"
__attribute__((noinline)) int take(pair p, int x) { asm volatile("" : : "r"(&p) : "memory"); return x; }
__attribute__((noinline)) int look(pair *p, int x) { asm volatile("" : : "r"(p) : "memory"); return x; }
int main() { pair p(3); return take(p, 41) + look(&p, 42) - 83; }
C
	printf '#include "home.h"\npair::pair(long x) : first(x), second(x) {}\n' >pair.cc
	clang++ -g -O1 home.cc pair.cc -o home || not_ok 'compiling home.cc'
	run "$DPE" run -e 'detect r(x): take(_, x)' -- ./home
	says 'an argument after a class that is only declared is refused' 2 "argument 2 of 'take', which has no value: its type, or that of an" \
		'is only declared in the debug information; clang describes it with -fstandalone-debug'
	run "$DPE" run -e 'detect r(p): look(p, x) { print(p->second); }' -- ./home
	says 'a member of a class that is only declared is refused' 2 "'p->second' cannot be read: its type is only declared"
	clang++ -g -fstandalone-debug -O1 home.cc pair.cc -o home || not_ok 'compiling home.cc'
	run "$DPE" run -e 'detect r(x): take(p, x) { print(p.second, x); }' -- ./home
	says 'with -fstandalone-debug it is read' 1 'r: 3 41'
fi

example=$TOP/examples/lock-inversion/lock-inversion.c

# ---- linking -------------------------------------------------------------------------------------

cat >bare.c <<'C'
__attribute__((noinline)) int put(int x) { __asm__ volatile(""); return x; }
void _start(void)
{
	put(3);
	__asm__ volatile("syscall" : : "a"(231), "D"(0) : "memory");
	__builtin_unreachable();
}
C
bare="${CC:-cc} -g -O1 -nostdlib -static -fno-stack-protector bare.c -o bare"
$bare -no-pie && ./bare || not_ok 'compiling bare.c'
run "$DPE" run -e 'detect r(x): put(x) { print(x); }' -- ./bare
says 'a program without any library is observed' 1 'r: 3'
$bare -no-pie -Wl,-N 2>built.err && ./bare || not_ok 'linking with -N'
run "$DPE" run -e 'detect r(x): put(x) { print(x); }' -- ./bare
says 'code in a writable segment is refused' 2 'bare: error: its code is in a segment that is also writable, where the kernel puts no probes'
for machine in -m32 -mx32; do
	if ! $bare $machine -no-pie 2>built.err; then
		ok "$machine # skip $(head -1 built.err)"
		continue
	fi
	run "$DPE" list ./bare
	says "a program of 32 bits is refused ($machine)" 2 'not yet supported: programs for machines other than x86-64, such as those of 32 bits'
done

# refused NAME PROGRAM WHY: by all that loads a library of dpe
refused() {
	run "$DPE" deadlock --preload -- "$2"
	says "$1: --preload is refused" 2 "nothing can be preloaded into this program: $3"
	run "$DPE" explore -- "$2"
	check "$1: dpe explore is refused with one line" "$status $(lines err) $(grep -c "error: is linked with $1" err)" = '2 1 1'
	check "$1: it does not run" ! -s out
}

if command -v musl-gcc >/dev/null; then
	musl-gcc -g -O1 "$example" -o musl || not_ok 'compiling with musl-gcc'
	run "$DPE" deadlock -- ./musl
	says 'a potential deadlock is found in a program of musl' 1 'potential deadlock of 2 threads' ' 0 lost; '
	# The instruction that waits is in a static function, behind memset, which has no size.
	printf 'int pause(void);\nint main(void)\n{\n\treturn pause();\n}\n' >pauses.c
	musl-gcc -O1 pauses.c -o pauses || not_ok 'compiling pauses.c'
	./pauses &
	pauses=$!
	sleeps() {
		run "$DPE" hang -p $pauses
		grep -q 'sleeps in pause' out
	}
	await sleeps || not_ok 'dpe hang of a program of musl'
	kill $pauses
	check 'code of a stripped file behind a function without a size has no name' "$(grep -c ' at 0x' out) $(grep -c memset out)" = '1 0'
	refused musl ./musl 'it is linked with musl, and the library with glibc'
else
	ok 'a program of musl # skip musl-gcc is not installed'
fi
if clang -g -O1 -pthread -fsanitize=thread "$example" -o tsan 2>built.err; then
	refused ThreadSanitizer ./tsan 'ThreadSanitizer is linked into it'
else
	ok "clang's ThreadSanitizer # skip $(head -1 built.err)"
fi

# ---- executed by another program -----------------------------------------------------------------

# finds NAME COMMAND...
finds() {
	title=$1
	shift
	run "$DPE" deadlock -- "$@"
	says "$title" 1 'potential deadlock of 2 threads' ' 0 lost; '
}
${CC:-cc} -g -O1 -pthread -static "$example" -o static || not_ok 'compiling with -static'
finds 'a static program in the place of another one is observed' sh -c 'exec ./static'
mkdir -p root/bin
${CC:-cc} -g -O1 -pthread "$example" -o root/bin/example || not_ok 'compiling lock-inversion.c'
for file in $(ldd root/bin/example | grep -o '/[^ ]*'); do
	mkdir -p "root${file%/*}"
	cp -L "$file" "root$file"
done
if chroot root /bin/example >out 2>chroot.err; then
	finds 'a program in another root directory, with its own C library, is observed' chroot root /bin/example
else
	ok "a program in another root directory # skip $(head -1 chroot.err)"
fi
finish
