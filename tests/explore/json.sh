# The report as JSON Lines, read by Python.
. tests/tap.sh

explored=$BUILD/explored
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/statuses.c" -o statuses || not_ok "compiling statuses.c"
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/outside.c" -o outside || not_ok "compiling outside.c"

cat >reads.py <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    findings = [json.loads(line) for line in file]
summary = findings.pop()
assert summary["type"] == "summary" and all(f["type"] == "finding" for f in findings)
assert summary["findings"] == len(findings)
print(eval(sys.argv[2]))
END

# holds NAME STATUS FILE EXPRESSION: the last run has the status, and EXPRESSION is true of its summary and findings
holds() {
	gives "$1: exit status" "$2"
	check "$1" "$(python3 reads.py "$3" "$4" 2>&1)" = True
}

run "$DPE" explore --format=json --keep-going --runs=30 -o a.schedule -- "$explored/ab-ba"
holds "JSON of a deadlock has its kind, the verdict and the number of runs" 1 out "[f['kind'] for f in findings] == ['deadlock'] and summary['verdict'] == 'found' and summary['runs'] == 30"
check "--format=json writes nothing to standard error" ! -s err
holds "JSON of a deadlock names the threads, their locks and the locks' owners" 1 out "{(p['thread'], p['object'], p['waits_for']) for p in findings[0]['places']} == {(2, 'n', 3), (3, 'm', 2)}"
holds "JSON of a deadlock has the operations and their source lines" 1 out "all(p['operation'] == 'pthread_mutex_lock' and 'ab-ba.c:' in p['place'] for p in findings[0]['places'])"
holds "JSON of a deadlock notes how often it occurred" 1 out "any(n.endswith('times: deadlock (2 threads)   a.schedule') for n in summary['notes'])"
holds "JSON of a finding has the schedule of the schedule file" 1 out \
	"[[f'{s[k]}' for k in ('thread', 'step', 'next', 'operation')] for s in findings[0]['schedule']] == [l.split()[:4] for l in open(findings[0]['file']) if l[0].isdigit()]"
cp out first
run "$DPE" explore --format=json --report=report --replay=a.schedule -- "$explored/ab-ba"
holds "--report=FILE has the JSON of a replay" 1 report "summary['replay'] == 'a.schedule' and 'run' not in findings[0]"
holds "JSON of a replay has the kind, text, places and schedule of the finding" 1 report \
	"all(findings[0][m] == json.loads(open('first').readline())[m] for m in ('kind', 'text', 'places', 'schedule'))"
run "$DPE" explore --format=json --replay=a.schedule -- ./statuses
holds "JSON of a replay notes where it differs from the schedule" 0 out "any('differs from the schedule at choice 1' in n for n in summary['notes'])"
run "$DPE" explore --format=json -- "$explored/lost-update"
holds "JSON of a failed assertion has the kind signal and the assertion" 1 out "findings[0]['kind'] == 'signal' and any('Assertion' in d for d in findings[0]['details'])"
run "$DPE" explore --format=json -- "$explored/double-unlock"
holds "JSON of a double unlock has the kind misuse and the operation" 1 out "findings[0]['kind'] == 'misuse' and findings[0]['places'][0]['operation'] == 'pthread_mutex_unlock'"
run "$DPE" explore --format=json --seed=7 -- ./statuses
holds "JSON of an exit status has the kind exit and the seed" 1 out "findings[0]['kind'] == 'exit' and findings[0]['seed'] == 7"
run "$DPE" explore --format=json --runs=1 -- ./outside
holds "JSON notes a thread blocked in read, which is not controlled" 0 out "any('blocked in read' in n for n in summary['notes'])"
run "$DPE" explore --format=json --max-steps=5 --runs=10 -- ./statuses
holds "JSON of runs with too many operations has the verdict inconclusive" 3 out "summary['verdict'] == 'inconclusive' and not summary['all']"
run "$DPE" explore --format=json --strategy=delay -- "$explored/ab-ba-fixed"
holds "JSON of a complete exploration says all, and the verdict nothing" 0 out "summary['all'] and summary['verdict'] == 'nothing'"
run "$DPE" explore --format=sarif -- ./statuses
says "--format=sarif is refused" 2 "text|json"
run "$DPE" explore --report=/dev/full -- ./statuses
says "a report that cannot be written is an error" 2 "/dev/full: error: cannot write the report"
finish
