# --format=sarif: findings for code hosts and editors.
. tests/tap.sh
cat >check.py <<'END'
"""What the schema of SARIF 2.1.0 demands of the objects that dpe writes: their members, which of them are required,
the types and values that these have. Nothing else is allowed in them. Prints a summary of the results."""
import json, re, sys
log = json.load(sys.stdin)

def text(value):
    return isinstance(value, str)

def number(least):
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least

def one_of(*values):
    return lambda value: value in values

def many(kind, least=0, unique=False):
    return lambda value: (isinstance(value, list) and len(value) >= least and all(is_a(kind, item) for item in value)
                          and (not unique or len({json.dumps(item, sort_keys=True) for item in value}) == len(value)))

def texts_by_name(value):
    return isinstance(value, dict) and all(map(text, value.values()))

def truth(value):
    return isinstance(value, bool)

level = one_of("none", "note", "warning", "error")
uri = lambda value: text(value) and re.fullmatch(r"[^\s<>\\\\^`{|}\"]+", value) is not None
KINDS = {  # a member that ends in ! is required
    "log": {"version!": one_of("2.1.0"), "runs!": many("run"), "$schema": uri},
    "run": {"tool!": "tool", "invocations": many("invocation"), "results": many("result")},
    "tool": {"driver!": "driver"},
    "driver": {"name!": text, "version": text, "rules": many("rule", unique=True)},
    "rule": {"id!": text, "shortDescription": "message"},
    "invocation": {"executionSuccessful!": truth, "toolExecutionNotifications": many("notification")},
    "notification": {"message!": "message", "level": level},
    "message": {"text!": text},
    "result": {"message!": "message", "ruleId": text, "ruleIndex": number(-1), "level": level,
               "locations": many("location"), "relatedLocations": many("location", unique=True),
               "occurrenceCount": number(1), "partialFingerprints": texts_by_name,
               "suppressions": many("suppression", unique=True)},
    "location": {"id": number(-1), "physicalLocation": "physical", "message": "message",
                 "logicalLocations": many("logical", unique=True)},
    "physical": {"artifactLocation!": "artifact", "region": "region"},
    "artifact": {"uri": uri},
    "region": {"startLine": number(1)},
    "logical": {"name": text, "kind": text},
    "suppression": {"kind!": one_of("inSource", "external"), "status": one_of("accepted", "underReview", "rejected"),
                    "location": "location", "justification": text},
}

def is_a(kind, value):
    if callable(kind):
        return kind(value)
    members = {name.rstrip("!"): what for name, what in KINDS[kind].items()}
    assert isinstance(value, dict), (kind, value)
    assert not set(value) - set(members), (kind, value)
    assert all(name[:-1] in value for name in KINDS[kind] if name.endswith("!")), (kind, value)
    assert all(is_a(members[name], item) for name, item in value.items()), (kind, value)
    return True

is_a("log", log)
[run] = log["runs"]
driver = run["tool"]["driver"]
assert driver["name"] == "dpe" and driver["version"]
ids = [rule["id"] for rule in driver["rules"]]
[invocation] = run["invocations"]
assert invocation["executionSuccessful"] is True
assert len({"suppressions" in result for result in run["results"]}) <= 1
prints = set()
for result in run["results"]:
    assert ids[result["ruleIndex"]] == result["ruleId"]
    [fingerprint] = result["partialFingerprints"].values()
    assert re.fullmatch("[0-9a-f]{16}", fingerprint) and fingerprint not in prints
    prints.add(fingerprint)
    first = result["locations"][0]["physicalLocation"]
    by = [s["location"]["physicalLocation"] for s in result.get("suppressions", [])]
    print(result["ruleId"], result["level"], result["occurrenceCount"],
          f'{first["artifactLocation"]["uri"]}:{first["region"]["startLine"]}', len(result.get("relatedLocations", [])),
          *(f'by {s["artifactLocation"]["uri"]}:{s["region"]["startLine"]}' for s in by))
    if "-p" in sys.argv:
        print(fingerprint)
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
sarif 'each distinct finding is a SARIF result with its place' 1 'race error 2 src/w.c:7 1
order error 1 rules.dpe:3 0
bad error 1 rules.dpe:4 0
bad error 1 rules.dpe:4 0
4 results 0 notes'
printf '# known\nfunction:write rule:race\n' >known
python3 check.py -p <out >unsuppressed
run "$DPE" replay --format=sarif --suppressions=known -s rules.dpe log.jsonl
sarif 'a suppressed finding is a SARIF result with its suppression' 1 'race error 2 src/w.c:7 1 by known:2
order error 1 rules.dpe:3 0
bad error 1 rules.dpe:4 0
bad error 1 rules.dpe:4 0
4 results 0 notes'
check 'a suppressed SARIF result has the same fingerprint' "$(python3 check.py -p <out | sed 's/ by .*//' | tr '\n' ' ')" = "$(tr '\n' ' ' <unsuppressed)"
printf 'detect twice: go ; go ; go\n' >twice.dpe
printf '{"event":"go","thread":1,"stack":["go+0x4 (src/my file: 100%%.c:7)"]}\n%.0s' 1 2 3 >twice.jsonl
run "$DPE" replay --format=sarif -s twice.dpe twice.jsonl
sarif 'SARIF paths are URI references, and each location occurs once' 1 'twice error 1 src/my%20file%3A%20100%25.c:7 1
1 results 0 notes'
printf 'rule:*\n' >all
run "$DPE" replay --format=sarif --suppressions=all -s rules.dpe log.jsonl
sarif 'suppressed SARIF results leave exit status 0' 0 'race error 2 src/w.c:7 1 by all:1
order error 1 rules.dpe:3 0 by all:1
bad error 1 rules.dpe:4 0 by all:1
3 results 0 notes'
printf '{"event":"a","id":"e1","thread":1}\n' >a.jsonl
run "$DPE" replay --format=sarif -s rules.dpe a.jsonl
sarif 'an incomplete expectation is a SARIF result' 1 'order error 1 rules.dpe:3 0
1 results 0 notes'
printf 'detect none: x & y\n' >none.dpe
run "$DPE" replay --format=sarif -s none.dpe log.jsonl
sarif 'a SARIF log without findings has no results' 0 '0 results 0 notes'
printf '{"event":"x","thread":1,"seq":0}\n{"event":"x","thread":1,"seq":5}\n' >lost.jsonl
run "$DPE" replay --format=sarif -s none.dpe lost.jsonl
sarif 'losses are SARIF notes, and the verdict is a result of level note' 3 'none note 1 none.dpe:1 0
1 results 2 notes'
run "$DPE" replay --format=sarif --report=report.sarif -s none.dpe log.jsonl
check '--report writes the SARIF log to a file' "$(python3 check.py <report.sarif)" = '0 results 0 notes'
run "$DPE" check --format=sarif none.dpe
says 'dpe check refuses --format=sarif' 2 'text'
finish
