# Stacks are whole, with frame pointers and without, in functions that align their stack, are called back, or interrupted by a
# signal, also where the kernel has put its own return addresses; compared with those of the compiler's library and gdb.
. tests/tap.sh
need_live 'stacks'
CC=${CC:-cc}
targets=$TOP/tests/live/targets

# own NAME FUNCTION OPTION...: the stacks of ./frames
own() {
	name=$1
	function=$2
	shift 2
	run "$DPE" record --stack=32 -o log.jsonl "$@" -- ./frames
	got=$(python3 "$TOP/tests/live/stacks.py" own printed log.jsonl "$function")
	check "$name" "$(printf '%s\n' "$got" | grep -cv '^6 stacks, [345][0-9] frames$')" = 0 || explain "$got"
}

printf 'detect R: marked(_)\n' >marked.dpe
printf 'detect R: marked(_)\ndetect S: deeper.exit & compare.exit\ndetect T: on_signal.exit & begin_thread.exit\n' >exits.dpe
printf 'detect P: sem_post\n' >post.dpe
printf 'detect U: report.exit & with_aligned_stack.exit\n' >more.dpe
for compiler in 'gcc -O0' 'gcc -O2' 'gcc -O1 -fno-optimize-sibling-calls' 'gcc -O2 -fno-omit-frame-pointer' 'gcc -O3 -fcf-protection' 'clang -O2'; do
	command -v ${compiler%% *} >/dev/null || continue
	$compiler -g -rdynamic -pthread "$targets/frames.c" -o frames || exit 1
	./frames >printed
	own "$compiler: stacks are whole" marked -s marked.dpe
	own "$compiler: stacks are whole where exits are observed" marked -s exits.dpe more.dpe
	own "$compiler: stacks of the preloaded library are whole" sem_post --preload -s post.dpe
done

# Without tables there are frame pointers; broken tables make stacks shorter, and nothing else.
gcc -O1 -g -rdynamic -pthread -fno-omit-frame-pointer -fno-optimize-sibling-calls "$targets/frames.c" -o whole || exit 1
objcopy --remove-section=.eh_frame_hdr whole frames
run "$DPE" record --stack=3 -o log.jsonl -s marked.dpe -- ./frames
check 'frame pointers give the stack without unwind tables' "$(grep -c '"report+.*"deeper+' log.jsonl)" = 4
for change in 'fde_count=2000000000' 'fde_count=3' 'table=reversed' 'table=random' 'eh_frame=random' 'encoding=255'; do
	python3 "$TOP/tests/live/break_frames.py" whole frames "$change"
	chmod +x frames
	run "$DPE" run --stack=32 -s marked.dpe -- ./frames quiet
	check "broken tables, $change: the match is found" $status -eq 1 && check "broken tables, $change: all events are seen" "$(grep -c '6 events, 0 lost' err)" = 1
	run "$DPE" run --stack=32 --preload -s post.dpe -- ./frames quiet
	check "broken tables, preloaded library, $change: the match is found" $status -eq 1 && check "broken tables, preloaded library, $change: all events are seen" "$(grep -c '6 events, 0 lost' err)" = 1
done

# Programs that are linked statically have .eh_frame without .eh_frame_hdr.
cat >nested.c <<'X'
#include <unistd.h>
static __attribute__((noipa, noinline)) int nest(int depth)
{
	volatile char kept[8];

	kept[depth] = 1; /* which keeps the call from becoming a loop */
	depth = depth ? nest(depth - 1) : (int)write(1, "", 0);
	return kept[0] + depth;
}
int main(void) { return nest(4) > 9; }
X
for compiler in 'gcc -O2 -static' 'clang -O2 -static'; do
	$compiler -w nested.c -o nested || not_ok "compiling nested.c with $compiler"
	run "$DPE" run --stack=32 -e 'detect W: write' -- ./nested
	check "$compiler: stacks are whole" "$(grep -c ' by nest+' err) $(grep -c ' by main+' err)" = '5 1'
done

# The callers of the first write in Debian's programs, which have no frame pointers, and of which most are stripped.
cat >frames.gdb <<'END'
set debuginfod enabled off
set breakpoint pending on
set height 0
break write
run
python
frame = gdb.newest_frame()
while frame is not None:
    if frame.type() != gdb.INLINE_FRAME:
        call = frame.pc() - 1
        symbol = gdb.execute("info symbol %d" % call, to_string=True).split(" in section")[0].split()
        known = symbol[0] + "+" + hex(int(symbol[2]) + 1) if len(symbol) == 3 and symbol[1] == "+" else "-"
        print("frame %x %s" % (frame.pc(), known))
    frame = frame.older()
end
kill
END
echo a text >text
compared=0
for command in 'sort text' 'gzip -c text' 'perl -e print(1)' 'sed s/a/b/ text' 'xz -c text' 'ls' 'mawk {print} text' 'tar -cf - text' 'bzip2 -c text' \
	'zstd -q -c text' 'find text' 'redis-cli --version' 'od text'; do
	command -v ${command%% *} >/dev/null || continue
	timeout 60 gdb -q -batch -x frames.gdb --args $command >printed 2>/dev/null </dev/null
	run "$DPE" record --stack=32 -o log.jsonl -e 'detect R: write(_, _, _)' -- $command
	got=$(python3 "$TOP/tests/live/stacks.py" gdb printed log.jsonl write)
	compared=$((compared + 1))
	check "${command%% *}: the stack is equal to that of gdb" "$(printf '%s\n' "$got" | grep -cvE '^1 stacks, ([3-9]|[12][0-9]) frames$')" = 0 || explain "$got"
done
check 'stacks of at least ten programs are compared with gdb' $compared -ge 10

# The kernel does not tell where a file is mapped while other threads change the mappings.
compile_target mapping
run "$DPE" record -e 'expect t(n): touch(n)' -o mapping.dpel -- ./mapping
check 'no stack is counted as cut beside threads that change the mappings' "$(grep -c 'in …' err)" -eq 0
run "$DPE" convert mapping.dpel mapping.jsonl
check 'stacks beside threads that change the mappings are whole' "$(python3 -c '
import json
stacks = [json.loads(line)["stack"] for line in open("mapping.jsonl", encoding="utf-8") if "touch" in line]
print(len(stacks), sum(any(frame.startswith("main+") for frame in stack) for stack in stacks))')" = '320 320'
finish
