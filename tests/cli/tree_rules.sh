# tools/check: each of its rules is broken once, in a small tree; tools/bpf_stacks.
. tests/tap.sh
mkdir -p tools base event cli probes/binary dpe-lang/syntax include/dpe docs stabilizer build/base build/event examples/bad
cp "$TOP/tools/check" tools/check
lines() { # of a header that everybody includes
	echo '#ifndef DPE_BASE_BASE_H'
	echo '#define DPE_BASE_BASE_H'
	for i in $(seq 200); do echo "/* $i */"; done
	echo '#endif'
}
lines >base/base.h
printf '#include "base/base.h"\n#include "cli/cli.h"\n' >base/upward.c
echo '#include "event/private.h"' >stabilizer/private.c
printf '#include "base.h"\n#include "nowhere/nowhere.h"\n#include <elfutils/libdw.h>\n' >cli/around.c
printf '#include "dpe/dpe-probes.h"\n' >event/public.c
printf '#ifndef SAME_H\n#define SAME_H\nstruct twice {\n};\n#endif\n' >event/private.h
printf '#ifndef SAME_H\n#define SAME_H\nstruct twice {\n};\n#endif\n' >cli/cli.h
echo 'struct unknown_type x(missing_type y);' >event/alone.h
touch probes/binary/same.c dpe-lang/syntax/same.c docs/page.md include/dpe/dpe-probes.h
printf '/* one\n two\n three\n four\n five\n six */\n' >event/long.c
printf '/* See there.c. */\nint f(int n) { return n > 5000; }\n/* %s */\n' 'TO''DO' >event/lines.c
echo 'This is what ''stands here.' >docs/page.md
printf 'int own_name;\nint strange(void) { return 0; }\n' >build/base/global.c
gcc -c build/base/global.c -o build/base/global.o || not_ok 'compiling'
echo 'detect a ;' >examples/bad/bad.dpe
printf 'See `gone.c`.\n\n    dpe_no_function    does nothing\n      nor_this_one\n' >event/README.md
printf '#ifndef VAIN_H\n#define VAIN_H\nstruct vain {\n\tint unread;\n};\nint dpe_vain(void);\nint dpe_tested(void);\n#endif\n' >event/vain.h
printf 'int dpe_vain(void)\n{\n\treturn 0;\n}\nint dpe_tested(void)\n{\n\treturn dpe_vain();\n}\n' >event/vain.c
mkdir -p tests && echo 'int x = dpe_tested();' >tests/test_vain.c
printf '\n    dpe_tested      calls dpe_vain\n      dpe_vain    calls nothing\n        dpe_tested\n' >>event/README.md

run tools/check build
broken() {
	check "$1" "$status $(grep -cF -- "$2" out)" = '1 1'
}
broken 'tools/check finds an include of a room that must not be included' 'base/upward.c:2: base may not include cli/cli.h'
broken 'tools/check finds an include of the private header of another room' 'stabilizer/private.c:1: event/private.h is private to event'
broken 'tools/check finds an include path that is not relative to the root' 'cli/around.c:1: "base.h" is not relative'
broken 'tools/check finds an include of an unknown room' 'cli/around.c:2: nowhere/nowhere.h: there is no room nowhere'
broken 'tools/check finds a header of a library outside its room' 'cli/around.c:3: <elfutils/libdw.h> belongs to probes/binary/ alone'
broken 'tools/check finds an include of a public header that the room must not include' 'event/public.c:1: event may not include dpe/dpe-probes.h'
broken 'tools/check finds an include guard that two headers use' "include guard 'SAME_H' is used in"
broken 'tools/check finds a struct tag that two files use' "struct tag 'twice' is used in"
broken 'tools/check finds a file name that two folders use' "base name 'same' is used in"
broken 'tools/check finds a header that does not compile alone' 'event/alone.h: does not compile alone'
broken 'tools/check finds a large header with many includers' 'base/base.h: 203 lines, included by'
broken 'tools/check finds a long comment at the top of a file' 'event/long.c:1: the comment at the top has more than 5 lines'
broken 'tools/check finds a comment that names a missing file' 'event/lines.c:1: the comment names there.c, which does not exist'
broken 'tools/check finds a bound outside limits.h' 'event/lines.c:2: a bound belongs into event/limits.h'
broken 'tools/check finds a mark of unfinished work' 'event/lines.c:3: left open'
broken 'tools/check finds words that are not plain technical English' "is not plain technical English: docs/glossary.md has the words"
broken 'tools/check finds a room without README' 'stabilizer: has no README.md'
broken 'tools/check finds a README that names a missing file' 'event/README.md:1: names the file gone.c, which does not exist'
broken 'tools/check finds a README that names a missing function' 'event/README.md:3: names dpe_no_function, which does not exist'
broken 'tools/check finds a call tree that names a missing function' 'event/README.md:4: names nor_this_one, which does not exist'
broken 'tools/check finds a source file that the README of its room does not mention' 'event/README.md: does not say what lines.c is for'
broken 'tools/check finds a member that nobody uses' "event/vain.h: nobody uses the member 'unread'"
broken 'tools/check finds a function of a header that only its own file calls' "event/vain.h: 'dpe_vain' is called in no file but its own"
broken 'tools/check finds a call tree with a function that the one above does not call' 'event/README.md:8: dpe_vain does not call dpe_tested'
check 'a function that the one above calls may be below it in a call tree' "$(grep -c 'dpe_tested does not call' out)" = 0
check 'a function that a test calls may be in a header' "$(grep -c "'dpe_tested' is called" out)" = 0
broken 'tools/check finds a mutable global variable' "build/base/global.o: 'own_name' is global and mutable"
broken 'tools/check finds a global name outside dpe_' "build/base/global.o: 'strange' is a name that its users may have"
broken 'tools/check finds a wrong specification among the examples' 'examples/bad/bad.dpe: dpe check: examples/bad/bad.dpe:1:10: error'

# bpf_stacks: a chain of calls with a frame of 264 bytes, and one of $1
chain() {
	cat >chain.c <<X
__attribute__((noinline)) int inner(void *p) { char bytes[$1]; return ((long (*)(void *))1)(bytes); }
__attribute__((section("uprobe"))) int outer(void *p) { char bytes[264]; return ((long (*)(void *))1)(bytes) + inner(p); }
X
	clang -target bpf -O2 -c chain.c -o chain.o || not_ok 'compiling for BPF'
	run "$TOP/tools/bpf_stacks" chain.o
}
chain 224
check 'tools/bpf_stacks accepts 512 bytes' "$status $(cat out)" = '0 '
chain 232
check 'tools/bpf_stacks finds a chain of calls with more than 512 bytes' "$status $(cat out)" = '1 chain.o: 544 bytes of stack: outer 288, inner 256'
finish
