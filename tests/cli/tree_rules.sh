# tools/check finds what it is there to find: each rule is broken once, in a small tree.
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

run tools/check build
broken() {
	check "$1" "$status $(grep -cF -- "$2" out)" = '1 1'
}
broken 'a room that it may not include' 'base/upward.c:2: base may not include cli/cli.h'
broken 'the private header of another room' 'stabilizer/private.c:1: event/private.h is private to event'
broken 'a path that is not from the root' 'cli/around.c:1: "base.h" is not relative'
broken 'a room that is none' 'cli/around.c:2: nowhere/nowhere.h: there is no room nowhere'
broken 'a library outside its room' 'cli/around.c:3: <elfutils/libdw.h> belongs to probes/binary/ alone'
broken 'a public header of another room' 'event/public.c:1: event may not include dpe/dpe-probes.h'
broken 'a guard that two headers have' "include guard 'SAME_H' is used in"
broken 'a struct that two files have' "struct tag 'twice' is used in"
broken 'a file name that two folders have' "base name 'same' is used in"
broken 'a header that does not compile alone' 'event/alone.h: does not compile alone'
broken 'a large header that everybody includes' 'base/base.h: 203 lines, included by'
broken 'a long comment at the top' 'event/long.c:1: the comment at the top has more than 5 lines'
broken 'a comment that names no file' 'event/lines.c:1: the comment names there.c, which does not exist'
broken 'a bound outside limits.h' 'event/lines.c:2: a bound belongs into event/limits.h'
broken 'something left open' 'event/lines.c:3: left open'
broken 'dialect' "is not plain technical English: docs/glossary.md has the words"
broken 'a room without README' 'stabilizer: has no README.md'
broken 'a page that names no file' 'event/README.md:1: names the file gone.c, which does not exist'
broken 'a page that names no function' 'event/README.md:3: names dpe_no_function, which does not exist'
broken 'nor in its call tree' 'event/README.md:4: names nor_this_one, which does not exist'
broken 'a source that its room does not explain' 'event/README.md: does not say what lines.c is for'
broken 'a mutable global' "build/base/global.o: 'own_name' is global and mutable"
broken 'a name that users may have' "build/base/global.o: 'strange' is a name that its users may have"
broken 'an example that is wrong' 'examples/bad/bad.dpe: dpe check: examples/bad/bad.dpe:1:10: error'
finish
