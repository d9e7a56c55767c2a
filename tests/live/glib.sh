# Programs that use GLib: what its locks, queues, pools and main contexts order is no race, by its calls, by watchpoint, and
# compiled for dpe; wrong programs are found.
. tests/tap.sh
need_live "GLib's locks"
source=$TOP/tests/live/targets/glib.c

# found: the cases with a finding, by the names of their values
found() {
	grep -oE '[a-z]+_value' err | sort -u
}

# shellcheck disable=SC2046
gcc -g -O1 "$source" -o plain $(pkg-config --cflags --libs glib-2.0) -pthread &&
	gcc -g -O1 -fsanitize=thread -c "$source" -o compiled.o $(pkg-config --cflags glib-2.0) &&
	gcc compiled.o -o compiled -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem $(pkg-config --libs glib-2.0) -pthread || not_ok 'building it'
./plain list | sort >all
check 'the program has at least ten cases' "$(lines all)" -ge 10
run "$DPE" race put,get put,put -- ./plain right
says 'calls ordered by GLib are no race' 0 'nothing found' ' 0 lost' 'note: GLib: glib.dpe says what'
run timeout -s KILL 120 "$DPE" race -- ./compiled all
says 'compiled for dpe: ordered accesses are no race' 0 'nothing found' ' 0 lost' 'note: GLib: glib.dpe says what'
run "$DPE" race --all --max-findings=0 put,get put,put -- ./plain wrong
found >names
same 'calls: each race is found' names <all
run timeout -s KILL 120 "$DPE" race --all --max-findings=0 -- ./compiled wrong
found >names
same 'compiled for dpe: each race is found' names <all
run timeout -s KILL 120 "$DPE" race --heap -- ./compiled all
says 'compiled for dpe: GLib frees nothing that is in use' 0 'nothing found' ' 0 lost'
run "$DPE" race mutex_value -- ./plain right
says 'by watchpoint: accesses ordered by a GMutex are no race' 0 'nothing found' ' 0 lost'
run "$DPE" race mutex_value -- ./plain wrong
says 'by watchpoint: the race is found' 1 'data race on mutex_value' ' 0 lost'
run "$DPE" deadlock -- ./plain right
says 'dpe deadlock says that a GMutex is no mutex of POSIX' 0 'warning: GLib: deadlocks of GMutex and GCond are not found'
finish
