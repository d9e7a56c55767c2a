#!/usr/bin/env python3
"""Compare a dpe command's `predict` with vectors (predict_oracle.py vectors).

    predict.py [--dpe ./dpe] [--limited] [--random COUNT --seed SEED] [--shapes COUNT] [--extras KEPT,CHANGED]
               [--longer COUNT] [vectors.jsonl ...]

For each vector it runs `dpe replay --format=json -s SPEC LOG` and wants of its verdicts, which are
    {"type":"verdict","rule":"R","mode":"predict","verdict":"match","event":…,"events":[…],"params":{…},
     "schedule":[[THREAD, LAST EVENT OF ITS TURN],…],"order":"kept"|"changed"}
* for each `must` (values of the variables, last event in the observed run) at least one match;
* every match to be one of the vector's `must` sets or of `may`;
* `event` to be the match's last event in the observed run, each (rule, params, events) reported once;
* `schedule` to be a correct reordering that shows the match, and `order` to say rightly whether some
  sync-preserving one does;
* exit status 1 where something is reported, else 0.
The same specification with `detect` for `predict` has to find what the observed run shows.
With --extras, so many last events of `may` matches of either class have to be found in the files, at least.
With --random, new vectors of that seed follow; with --shapes, such of other shapes (predict_shapes.py); each of both is given in
another way, too (predict_inputs.py). With --longer, so many runs of up to 80 events, too many to look for all matches: each that is
reported has to be shown by its schedule. With --limited, for a dpe with small limits, a match may be missing where the rule is
inconclusive.
"""
import os
import random
import sys

import predict_inputs
import predict_oracle as oracle
import predict_shapes
from cases import Cases, options, read, reasons
from cases import Cases, options, read, reasons, replay, write, write_log


def verdicts(dpe, spec, v, folder):
    path, log = f"{folder}/v.dpe", f"{folder}/v.jsonl"
    write(path, spec)
    write_log(log, v["log"])
    run, lines = replay(dpe, path, log)
    if run.returncode not in (0, 1, 3):
        raise RuntimeError(f"exit {run.returncode}: {run.stderr.strip()[:300]}")
    return [o for o in lines if o.get("type") == "verdict" and o.get("rule") == "R"], run.returncode


def check_detect(dpe, v, folder):
    """The observed run, by the same rules about locks; where the vector says what is detected."""
    if "detect" not in v:
        return []
    got, _ = verdicts(dpe, v["spec"].replace("predict R", "detect R"), v, folder)
    got = {str(g["event"]) for g in got if g["verdict"] == "match"}
    want = {m[-1] for m in v["detect"]}
    return [] if got == want else [f"detect: completed by {sorted(got)}, not {sorted(want)}"]


def unfold(run, prefix, schedule):
    """The events that happen as they were observed, then those of the schedule."""
    if not prefix:
        return run.unfold(schedule)
    return run.unfold([[e.thread, e.id] for e in run.ev[:prefix]] + schedule)


def frozen(params):
    return tuple(sorted((k, str(x)) for k, x in params.items()))


def count_extras(v, reported, found):
    """Last events of matches that need more than their least run, or another order of locks."""
    ends = {(k, e[-1]) for k, e in reported}
    musts = {(frozen(m["params"]), m["last"]) for m in v["must"]}
    for kind, count in found.items():
        wanted = {(frozen(m["params"]), m["events"][-1]) for m in v["may"] if m["class"] == kind} - musts
        count[0] += len(wanted & ends)
        count[1] += len(wanted)


def check_input(dpe, v, folder, rng, klass, reported):
    """Another input of the same run gives the same matches, or those of a part of the run. After a loss some may be missing,
    but not all, unless the rule is inconclusive."""
    way, spec, log = predict_inputs.another(v, rng)
    got, rc = verdicts(dpe, spec, {"log": log}, folder)
    ids, known = [str(m["id"]) for m in v["log"]], {m["id"] for m in log}
    # A loss that shows later retracts a match.
    retracted = {(frozen(g.get("params", {})), str(g.get("event"))) for g in got if g["verdict"] == "inconclusive"}
    again = {(frozen(g.get("params", {})), tuple(sorted(map(str, g["events"]), key=ids.index)))
             for g in got if g["verdict"] == "match" and (frozen(g.get("params", {})), str(g["event"])) not in retracted}
    inconclusive = rc == 3 or any(g["verdict"] == "inconclusive" for g in got)
    wrong = [f"{way}: {list(e)} {dict(k)}: no correct reordering shows it" for k, e in again - klass.keys()]
    ends = {(k, e[-1]) for k, e in again}
    if way in ("predecessors", "permuted") and again != reported:
        wrong.append(f"{way}: {sorted(again)}, not {sorted(reported)}")
    for m in v["must"]:
        if m["last"] in known and (frozen(m["params"]), m["last"]) not in ends and not (way == "lossy" and rc):
            wrong.append(f"{way}: nothing with {m['last']} as its last event {m['params'] or ''}")
    if inconclusive and way != "lossy":
        wrong.append(f"{way}: inconclusive")
    return wrong


def check(dpe, v, folder, limited, found, rng=None):
    wrong, (got, rc) = [] if limited else check_detect(dpe, v, folder), verdicts(dpe, v["spec"], v, folder)
    inconclusive = limited and any(g["verdict"] == "inconclusive" for g in got)
    ids = [str(m["id"]) for m in v["log"]]
    klass = {}
    for m in v["must"]:
        for s in m["sets"]:
            klass[frozen(m["params"]), tuple(s)] = "least"
    for m in v["may"]:
        klass[frozen(m["params"]), tuple(m["events"])] = m["class"]
    syncs, (rule,) = oracle.parse_spec(v["spec"])
    run = oracle.Run(v["log"], syncs)
    reported = set()
    for g in got:
        if g["verdict"] == "inconclusive" and limited:
            continue
        if g["verdict"] != "match":
            wrong.append(f"{g['verdict']}: {g.get('reason', '')}")
            continue
        events = [str(x) for x in g["events"]]
        if not set(events) <= set(ids):
            wrong.append(f"{events}: not of this log")
            continue
        key = frozen(g.get("params", {})), tuple(sorted(events, key=ids.index))
        if key in reported:
            wrong.append(f"{events}: reported twice")
        reported.add(key)
        if key not in klass:
            wrong.append(f"{list(key[1])} {dict(key[0])}: no correct reordering shows it")
            continue
        if str(g["event"]) != key[1][-1]:
            wrong.append(f"{events}: its last event is {key[1][-1]}, not {g['event']}")
        if (g["order"] == "changed") != (klass[key] == "changed"):
            wrong.append(f"{events}: order is said to be {g['order']}, and it is of class {klass[key]}")
        if "schedule" in g:
            seq = unfold(run, g.get("prefix", 0), g["schedule"])
            history = None if seq is None else run.follow(seq)
            if history is None:
                wrong.append(f"{events}: its schedule is no correct reordering")
            else:
                cut = frozenset(seq)
                shown = oracle.Candidates(rule, run).shown(cut, run.order(cut, history))
                if not any(oracle.entry(run, m) == list(key[1]) and frozen(dict(k)) == key[0] for m, k in shown):
                    wrong.append(f"{events}: its schedule does not show it")
        else:
            wrong.append(f"{events}: no schedule")
    count_extras(v, reported, found)
    ends = {(k, e[-1]) for k, e in reported}
    for m in v["must"]:
        if (frozen(m["params"]), m["last"]) not in ends and not inconclusive:
            wrong.append(f"nothing with {m['last']} as its last event {m['params'] or ''}, as {m['sets'][0]}")
    if (rc == 1) != bool(reported) or (rc == 3) > limited:
        wrong.append(f"exit status {rc} with {len(reported)} matches")
    return wrong + (check_input(dpe, v, folder, rng, klass, reported) if rng else [])


def longer_runs(seed, count):
    """Specifications and logs of more events than the oracle can try in all orders."""
    rng, made = random.Random(seed), 0
    rules = [x for x in oracle.RULES if "&" in x[0] or ";" in x[0]]
    while made < count:
        rule = oracle.pick(rng, rules)
        names = sorted({p[0] for p in oracle.Parser(rule).spec_patterns()} - {"r", "w"})
        phase = rng.random() < 0.3
        program = [oracle.random_program(rng, phase, names, ["L", "K", "M"], ["P", "Q"], 24) for _ in range(3)]
        threads, body = program[0]
        for _, more in program[1:]:  # forks and joins of the first one only
            for t in threads:
                end = body[t].pop() if body[t] and body[t][-1][0] == "end" else None
                body[t] += [op for op in more.get(t, []) if op[0] not in ("fork", "begin", "end", "join")] + [end] * (end is not None)
        messages = oracle.random_run(rng, threads, body, phase, 80)
        if messages is None or len(messages) < 20:
            continue
        made += 1
        yield {"spec": (oracle.PHASE if phase else oracle.BARE) + f"predict R: {rule}\n", "log": messages}


def check_longer(dpe, v, folder, found):
    wrong, (got, _) = [], verdicts(dpe, v["spec"], v, folder)
    syncs, (rule,) = oracle.parse_spec(v["spec"])
    run = oracle.Run(v["log"], syncs)
    ids = [str(m["id"]) for m in v["log"]]
    for g in got:
        if g["verdict"] != "match":
            continue  # more choices than are tried
        events = sorted(map(str, g["events"]), key=ids.index)
        seq = unfold(run, g.get("prefix", 0), g["schedule"])
        history = None if seq is None else run.follow(seq)
        if history is None:
            wrong.append(f"{events}: its schedule is no correct reordering")
            continue
        members, key = frozenset(ids.index(e) for e in events), frozen(g.get("params", {}))
        candidates = oracle.Candidates(rule, run)
        among = [c for c in candidates.list if c[0] == members and frozen(dict(c[2])) == key]
        cut = frozenset(seq)
        if not list(candidates.shown(cut, run.order(cut, history), among)):
            wrong.append(f"{events}: its schedule does not show it")
        if (g["order"] == "changed") == run.preserving(history):
            wrong.append(f"{events}: its order is not {g['order']}")
        found[g["order"]][0] += 1
    return wrong


def all_vectors(args):
    """(name, vector) of each."""
    for name in args.vectors:
        for n, v in enumerate(read(name), 1):
            yield f"{os.path.basename(name)}:{n}", v
    for n, v in enumerate(oracle.vectors(args.seed, args.random), 1):
        yield f"random {args.seed}:{n}", v
    for n, v in enumerate(predict_shapes.vectors(args.seed, args.shapes), 1):
        yield f"random shape {args.seed}:{n}", v
    for n, v in enumerate(longer_runs(args.seed, args.longer), 1):
        yield f"longer {args.seed}:{n}", v


def main():
    args = options(__doc__, vectors="*", seed=1, random=0, shapes=0, longer=0, extras="0,0", limited=False)
    found, others, longer = ({"kept": [0, 0], "changed": [0, 0]} for _ in range(3))
    with Cases(args) as cases:
        for name, v in all_vectors(args):
            if "must" in v:
                drawn = name.startswith("random")
                wrong = reasons(check, args.dpe, v, cases.folder, args.limited, others if drawn else found,
                                random.Random(name) if drawn else None)
            else:
                wrong = reasons(check_longer, args.dpe, v, cases.folder, longer)
            cases.judge(wrong, f"{name}: {v['spec'].splitlines()[-1]} ")
    for count, what in ((found, "extras"), (others, "extras of random vectors")):
        print(f"{what}: " + ", ".join(f"{a} of {b} {kind}" for kind, (a, b) in count.items()))
    if longer["kept"][0] + longer["changed"][0]:
        print("longer runs: " + ", ".join(f"{a} {kind}" for kind, (a, _) in longer.items()))
    for (kind, (count, _)), least in zip(found.items(), map(int, args.extras.split(","))):
        cases.require(count >= least, f"{count} {kind}, not {least} at least")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
