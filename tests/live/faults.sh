# A probed instruction that faults, is repaired by a handler of the program, and runs again.
. tests/tap.sh
need_live 'repaired faults'
compile_target repaired

for event in enter exit; do
	run "$DPE" run --stack=0 -e "detect first_reads.$event" -- ./repaired 10 no
	says "first_reads.$event without a fault" 1 '20 events, 0 lost; 1 rule: 20 matches'
	run "$DPE" run --stack=0 -e "detect called_more: first_reads.$event & first_reads^.$event" -- ./repaired 10
	says "first_reads.$event that may be reported twice is not certain" 3 '30 events, 10 lost' 'nothing found'
	check 'the program is repaired as ever' "$(cat out)" = '20 10'
done
finish
