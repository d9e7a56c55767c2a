"""The run of a vector as another input: edges as explicit predecessors, messages in any order of arrival, cut off, with losses."""
from collections import Counter

import predict_oracle as oracle

WAYS = ("predecessors", "permuted", "cut", "lossy")


def as_predecessors(v):
    """Rules about locks and data stay; each other edge becomes an explicit predecessor of its target."""
    syncs, _ = oracle.parse_spec(v["spec"])
    run = oracle.Run(v["log"], syncs)
    stay = ("exclusive", "shared", "reads", "writes", "keep")
    lines = [line for line in v["spec"].splitlines() if not line.startswith("sync") or line.split()[1] in stay]
    named = [set() for _ in v["log"]]
    for event, gate in enumerate(run.gate[:run.n]):
        if gate is not None:
            named[gate] |= {v["log"][source]["id"] for source in run.must[event] if source < gate}
    log = [{**m, "pred": sorted(ids)} if ids else m for m, ids in zip(v["log"], named)]
    return "\n".join(lines) + "\n", log


def numbered(log):
    count, out = Counter(), []
    for i, m in enumerate(log):
        out.append({**m, "seq": count[m["thread"]], "time": 1000 * i})
        count[m["thread"]] += 1
    return out


def another(v, rng):
    """The way, specification and log."""
    way = rng.choice(WAYS)
    if way == "predecessors":
        return way, *as_predecessors(v)
    if way == "cut":
        return way, v["spec"], v["log"][:rng.randrange(1, len(v["log"]))]
    log = numbered(v["log"])
    if way == "permuted":
        rng.shuffle(log)
    for _ in range(rng.choice([1, 1, 2, 3]) if way == "lossy" else 0):
        # A loss is seen if the thread has a later message.
        seen = [i for i, m in enumerate(log) if any(later["thread"] == m["thread"] for later in log[i + 1:])]
        if seen:
            log.pop(rng.choice(seen))
    return way, v["spec"], log
