# --format=sarif: findings for code hosts and editors.
. tests/tap.sh
cat >check.py <<'END'
"""The required members of SARIF 2.1.0, as far as dpe writes them; prints a summary of the results."""
import json, re, sys
log = json.load(sys.stdin)
assert log["version"] == "2.1.0" and len(log["runs"]) == 1
run = log["runs"][0]
driver = run["tool"]["driver"]
assert driver["name"] == "dpe" and driver["version"]
ids = [rule["id"] for rule in driver["rules"]]
assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
[invocation] = run["invocations"]
assert invocation["executionSuccessful"] is True
for note in invocation["toolExecutionNotifications"]:
    assert note["message"]["text"] and note["level"] in ("none", "note", "warning", "error")
prints = set()
for result in run["results"]:
    assert ids[result["ruleIndex"]] == result["ruleId"]
    assert result["level"] in ("none", "note", "warning", "error") and result["message"]["text"]
    assert result["occurrenceCount"] >= 1
    [fingerprint] = result["partialFingerprints"].values()
    assert re.fullmatch("[0-9a-f]{16}", fingerprint) and fingerprint not in prints
    prints.add(fingerprint)
    for location in result["locations"] + result.get("relatedLocations", []):
        physical = location["physicalLocation"]
        assert physical["artifactLocation"]["uri"] and physical["region"]["startLine"] >= 1
    first = result["locations"][0]["physicalLocation"]
    print(result["ruleId"], result["level"], result["occurrenceCount"],
          f'{first["artifactLocation"]["uri"]}:{first["region"]["startLine"]}', len(result.get("relatedLocations", [])))
print(len(run["results"]), "results", len(invocation["toolExecutionNotifications"]), "notes")
END

# sarif NAME STATUS EXPECTED: what the last run wrote
sarif() {
	check "$1" "$status $(python3 check.py <out 2>&1)" = "$2 $3"
}

cat >rules.dpe <<'END'
sync last lock(m): rel(m) ; acq(m)
detect race: write() & write^()
expect order: a ; b ; c
detect bad: z { error("zed"); }
END
stack() {
	printf '"stack":["%s+0x4 (%s)","main+0x9 (src/main.c:%s)"]' "$1" "$2" "$3"
}
{
	printf '{"event":"write.enter","id":"e1","thread":1,%s}\n' "$(stack write src/w.c:7 3)"
	printf '{"event":"write.enter","id":"e2","thread":2,%s}\n' "$(stack write src/w.c:7 4)"
	printf '{"event":"write.enter","id":"e3","thread":3,%s}\n' "$(stack write src/w.c:7 4)"
	printf '{"event":"a","id":"e4","thread":1}\n{"event":"c","id":"e5","thread":1}\n{"event":"z","id":"e6","thread":1}\n'
} >log.jsonl
run "$DPE" replay --format=sarif -s rules.dpe log.jsonl
sarif 'each different finding is a result, with its place' 1 'race error 2 src/w.c:7 1
order error 1 rules.dpe:3 0
bad error 1 rules.dpe:4 0
bad error 1 rules.dpe:4 0
4 results 0 notes'
printf '{"event":"a","id":"e1","thread":1}\n' >a.jsonl
run "$DPE" replay --format=sarif -s rules.dpe a.jsonl
sarif 'what is incomplete' 1 'order error 1 rules.dpe:3 0
1 results 0 notes'
printf 'detect none: x & y\n' >none.dpe
run "$DPE" replay --format=sarif -s none.dpe log.jsonl
sarif 'nothing found' 0 '0 results 0 notes'
printf '{"event":"x","thread":1,"seq":0}\n{"event":"x","thread":1,"seq":5}\n' >lost.jsonl
run "$DPE" replay --format=sarif -s none.dpe lost.jsonl
sarif 'what was lost makes a note' 3 'none note 1 none.dpe:1 0
1 results 1 notes'
run "$DPE" replay --format=sarif --report=report.sarif -s none.dpe log.jsonl
check 'into a file' "$(python3 check.py <report.sarif)" = '0 results 0 notes'
run "$DPE" check --format=sarif none.dpe
says 'not for what gives no verdicts' 2 'text'
finish
