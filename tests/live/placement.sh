# How the kernel handles the instruction chosen for a probe, on functions written for it: executed
# out of line or emulated, as `dpe list --placement` says; and each call is seen once, with its
# arguments.
. tests/tap.sh
need_live 'placement of probes'
target=$BUILD/targets/placement

for name in begins_with_push begins_with_push_r12 moves_then_pushes begins_with_endbr tests_then_jumps \
	tests_then_jumps_far calls_on calls_first loops_in_between moves_the_stack writes_memory \
	jumps_by_table holds_data jumped_into has_two_names begins_with_long_nop never_emulated; do
	printf 'detect R: %s(7, _)\n' $name >one.dpe
	run "$DPE" list --placement "$target" $name
	case $(cat out) in
	*emulated:*) wanted=emulated ;;
	*) wanted='out of line' ;;
	esac
	run "$DPE" run -s one.dpe -- "$target" $name 100
	check "$name: $wanted, 100 calls, one match of the argument" \
		"$(cat out) $(grep -c '^dpe: 100 events, 0 lost; 1 rule: 1 match' err)" = "$wanted 1"
done

# Returns are seen through a probe that is not at the entry, too.
printf 'detect R: moves_then_pushes(7, _).exit\n' >exit.dpe
run "$DPE" run -s exit.dpe -- "$target" moves_then_pushes 100
check 'moves_then_pushes: returns are seen' "$(grep -c '^dpe: 200 events, 0 lost; 1 rule: 1 match\|^dpe: 100 events, 0 lost; 1 rule: 1 match' err)" -eq 1
# A probe cannot be on a lock prefix: if the entry is not an event, the call is observed after the prefix.
for name in locks_first locks_and_adds; do
	printf 'detect R: %s(7, _).exit\n' $name >exit.dpe
	run "$DPE" run -s exit.dpe -- "$target" $name 100
	check "$name: returns are seen" "$(grep -c '^dpe: 100 events, 0 lost; 1 rule: 1 match' err)" -eq 1
done
printf 'detect R: locks_first(7, _)\n' >enter.dpe
run "$DPE" run -s enter.dpe -- "$target" locks_first 100
says 'locks_first: a probe at its entry is refused' 2 'the kernel cannot put a probe on its first instruction'
# The stack begins at the function, wherever the probe is.
printf 'detect R: moves_then_pushes(7, _)\n' >stack.dpe
run "$DPE" run -s stack.dpe -- "$target" moves_then_pushes 10
check 'the stack names the function and its caller' \
	"$(grep -c 'moves_then_pushes' err) $(grep -c 'main+0x[0-9a-f]* (.*placement.c:' err)" = '3 1'
finish
