# A probed instruction faults, a signal handler of the program repairs it, and it runs again.
. tests/tap.sh
need_live 'repaired faults'
compile_target repaired

for event in enter exit; do
	run "$DPE" run --stack=0 -e "detect first_reads.$event" -- ./repaired 10 no
	says "first_reads.$event without a fault is seen each time" 1 '20 events, 0 lost; 1 rule: 20 matches'
	run "$DPE" run --stack=0 -e "detect called_more: first_reads.$event & first_reads^.$event" -- ./repaired 10
	says "first_reads.$event that may be reported twice after a fault is inconclusive" 3 '30 events, 10 lost' 'nothing found'
	check 'the program repairs its faults as without dpe' "$(cat out)" = '20 10'
done
finish
