'use strict';
/* Merges two runs into one. Run A is what the page is about, run B (data.beside) stands beside it. Threads and events
 * of the two are aligned: an event and its counterpart are in one row where the order of both runs allows it. */

const MOST_EDITS = 2000; // between two threads; beyond it only common beginnings and ends are aligned

/* ---- aligning threads ----------------------------------------------------------------------- */

/* The thread that created each thread, and the number of that creation: [lane, number]; else null. */
function creatorsOf(run) {
	const laneOfThread = new Map(run.lanes.map((row, lane) => [row[0], lane])), creators = run.lanes.map(() => null), created = run.lanes.map(() => 0);
	for (const row of run.events)
		if (run.texts[row[NAME]] === 'thread::create' && laneOfThread.has(row[ARGS][0]))
			creators[laneOfThread.get(row[ARGS][0])] = [row[LANE], ++created[row[LANE]]];
	return creators;
}

/* What a thread has in common with its counterpart: the path of creations that leads to it. A thread that nobody
 * created is known by its id, if the other run has that id, too, else by its rank among the other ones. */
function threadKeys(run, other) {
	const creators = creatorsOf(run), ids = new Set(other.lanes.map(row => other.texts[row[0]])), keys = run.lanes.map(() => null);
	let rank = 0;
	const rootKey = ([thread, , , host]) => `${run.texts[host]} ` + (thread && ids.has(run.texts[thread]) ? `thread ${run.texts[thread]}` : `root ${rank++}`);
	const keyOf = lane => {
		if (keys[lane] === null) {
			keys[lane] = ''; // ends the recursion where ids are used again, so that two threads created each other
			keys[lane] = creators[lane] ? `${keyOf(creators[lane][0])}/${creators[lane][1]}` : rootKey(run.lanes[lane]);
		}
		return keys[lane];
	};
	return run.lanes.map((row, lane) => keyOf(lane));
}

/* ---- aligning events ------------------------------------------------------------------------ */

/* Name and arguments, where ids of threads and addresses do not depend on the run: a thread is its key, an address the
 * variable there, or its rank among the addresses that the thread uses. */
function eventKeys(run, keysOfThreads) {
	const threads = new Map(run.lanes.map((row, lane) => [row[0], keysOfThreads[lane]])), addresses = run.lanes.map(() => new Map());
	const argument = (number, known) => {
		const is = run.texts[number];
		if (run.objects[number])
			return run.texts[run.objects[number]];
		if (threads.has(number))
			return `thread ${threads.get(number)}`;
		if (!/^0x[0-9a-f]+$/i.test(is))
			return is;
		if (!known.has(number))
			known.set(number, known.size);
		return `address ${known.get(number)}`;
	};
	return run.events.map(row => `${run.texts[row[NAME]]}(${row[ARGS].map(number => argument(number, addresses[row[LANE]])).join(', ')})`);
}

const eventsByLane = run => {
	const events = run.lanes.map(() => []);
	run.events.forEach((row, event) => events[row[LANE]].push(event));
	return events;
};

/* A longest common subsequence, as pairs of indices, by Myers' algorithm. `cut`: it would take more than MOST_EDITS, and
 * only the common beginning and end are in it. */
function alignLists(a, b) {
	const pairs = [];
	let begin = 0, endA = a.length, endB = b.length;
	for (; begin < endA && begin < endB && a[begin] === b[begin]; begin++)
		pairs.push([begin, begin]);
	while (endA > begin && endB > begin && a[endA - 1] === b[endB - 1])
		pairs.push([--endA, --endB]);
	const middle = shortestEdit(a.slice(begin, endA), b.slice(begin, endB));
	return {pairs: [...pairs, ...(middle || []).map(([i, j]) => [begin + i, begin + j])], cut: middle === null};
}

/* furthest[most + k + 1]: the furthest place in `a` that is reached on diagonal k. */
function shortestEdit(a, b) {
	const most = Math.min(a.length + b.length, MOST_EDITS), furthest = new Int32Array(2 * most + 3), trace = [];
	for (let edits = 0; edits <= most; edits++) {
		trace.push(furthest.slice(most - edits, most + edits + 3));
		for (let k = -edits; k <= edits; k += 2) {
			const down = k === -edits || (k !== edits && furthest[most + k] < furthest[most + k + 2]);
			let x = down ? furthest[most + k + 2] : furthest[most + k] + 1;
			while (x < a.length && x - k < b.length && a[x] === b[x - k])
				x++;
			furthest[most + k + 1] = x;
			if (x >= a.length && x - k >= b.length)
				return backtrack(trace, a.length, b.length);
		}
	}
	return null;
}

/* trace[edits][edits + k + 1]: as `furthest` was before that number of edits. */
function backtrack(trace, x, y) {
	const pairs = [];
	for (let edits = trace.length - 1; edits >= 0; edits--) {
		const at = k => trace[edits][edits + k + 1], k = x - y;
		const down = k === -edits || (k !== edits && at(k - 1) < at(k + 1)), before = down ? k + 1 : k - 1;
		const fromX = edits ? at(before) : 0, fromY = edits ? fromX - before : 0;
		while (x > fromX && y > fromY)
			pairs.push([--x, --y]);
		x = fromX;
		y = fromY;
	}
	return pairs;
}

/* `toB`, `toA`: the counterpart of each event, or -1; `lanes`: pairs of lanes, and whether their lists were cut. */
function alignRuns(a, b) {
	const threads = [threadKeys(a, b), threadKeys(b, a)], events = [eventKeys(a, threads[0]), eventKeys(b, threads[1])];
	const laneOfKey = new Map(threads[1].map((key, lane) => [key, lane])), lists = [a, b].map(eventsByLane);
	const toB = new Int32Array(a.events.length).fill(-1), toA = new Int32Array(b.events.length).fill(-1), lanes = [];
	threads[0].forEach((key, lane) => {
		if (!laneOfKey.has(key))
			return;
		const mine = lists[0][lane], theirs = lists[1][laneOfKey.get(key)];
		const aligned = alignLists(mine.map(event => events[0][event]), theirs.map(event => events[1][event]));
		for (const [i, j] of aligned.pairs) {
			toB[mine[i]] = theirs[j];
			toA[theirs[j]] = mine[i];
		}
		lanes.push([lane, laneOfKey.get(key), aligned.cut]);
	});
	return {toB, toA, lanes};
}

/* ---- merging -------------------------------------------------------------------------------- */

/* The numbers of the events of A, and of B, in the merged run: each run keeps its order, and an event comes right before
 * its counterpart where that allows it. */
function mergedNumbers(toB, toA) {
	const numbers = [new Int32Array(toB.length), new Int32Array(toA.length)];
	let i = 0, j = 0, at = 0;
	while (i < toB.length || j < toA.length) {
		if (i < toB.length && toB[i] === j) {
			numbers[0][i++] = at++;
			numbers[1][j++] = at++;
		} else if (j < toA.length && (toA[j] < i || i === toB.length)) // it has no counterpart, or an earlier one
			numbers[1][j++] = at++;
		else
			numbers[0][i++] = at++;
	}
	return numbers;
}

/* A run with the numbers of the merged one: `event` and `text` map them, `lanes` and `rules` are added. */
function renumbered(run, event, text, lanes, rules, name) {
	const side = of => of && {...of, event: of.event === null ? null : event(of.event), name: text(of.name), thread: text(of.thread)};
	return {
		lanes: run.lanes.map(row => row.map(text)),
		rules: run.rules,
		notes: run.notes.map(note => `${name}: ${note}`),
		objects: Object.entries(run.objects).map(([object, variable]) => [text(Number(object)), text(variable)]),
		automata: Object.entries(run.automata).map(([rule, automata]) => [Number(rule) + rules, automata]),
		events: run.events.map(row => [row[0] + lanes, text(row[1]), row[2], row[3].map((edge, i) => i % 2 ? edge : event(edge)), row[4].map(text), text(row[5]),
			row[6].map(text), row[7].map(text), text(row[8]), text(row[9])]),
		parts: run.parts.map(([at, rule, flags, object]) => [event(at), rule + rules, flags, text(object)]),
		steps: run.steps.map(([at, slice, does, left, after, rule, states, expected]) => [event(at), text(slice), text(does), left, after.map(event), rule + rules, states, expected.map(text)]),
		findings: run.findings.map(finding => ({...finding, run: name,
			...finding.where && {where: finding.where.map(pair => pair.map(text))}, ...finding.expected && {expected: finding.expected.map(text)},
			...finding.events && {events: finding.events.map(side)}, ...finding.at && {at: side(finding.at)},
			...finding.schedule && {schedule: finding.schedule.map(side)},
			...finding.waits && {waits: finding.waits.map(wait => ({thread: text(wait.thread), object: text(wait.object), holder: text(wait.holder),
				...wait.waits && {waits: side(wait.waits)}, ...wait.holds && {holds: side(wait.holds)}}))}})),
	};
}

/* What the page shows: a run with `counterpart` (of each event, or -1; null: there is one run) and the first lane of B. */
function together(a) {
	const b = a.beside, lanes = a.lanes.length, texts = a.texts.length;
	if (!b)
		return {...a, shared: new Set([a.shared]), counterpart: null, laneB: lanes};
	const {toB, toA, lanes: pairs} = alignRuns(a, b), numbers = mergedNumbers(toB, toA), counterpart = new Int32Array(toB.length + toA.length).fill(-1);
	toB.forEach((other, event) => { counterpart[numbers[0][event]] = other < 0 ? -1 : numbers[1][other]; });
	toA.forEach((other, event) => { counterpart[numbers[1][event]] = other < 0 ? -1 : numbers[0][other]; });
	const runs = [renumbered(a, event => numbers[0][event], number => number, 0, 0, 'A'),
		renumbered(b, event => numbers[1][event], number => number ? texts + number - 1 : 0, lanes, a.rules.length, 'B')];
	const all = member => runs.flatMap(run => run[member]), events = new Array(counterpart.length);
	runs.forEach((run, i) => run.events.forEach((row, event) => { events[numbers[i][event]] = row; }));
	return {
		title: `A: ${a.title}   B: ${b.title}`, texts: [...a.texts, ...b.texts.slice(1)], lanes: all('lanes'), rules: all('rules'), notes: [...all('notes'), ...pairs.filter(([, , cut]) => cut).map(([mine, theirs]) =>
			`The threads ${a.texts[a.lanes[mine][0]]} of A and ${b.texts[b.lanes[theirs][0]]} of B differ in more than ${MOST_EDITS} events: only those with which both begin and end were compared.`)],
		findings: all('findings'), sources: {...b.sources, ...a.sources}, objects: Object.fromEntries(all('objects')), automata: Object.fromEntries(all('automata')),
		events, parts: all('parts').sort((x, y) => x[0] - y[0]), steps: all('steps').sort((x, y) => x[0] - y[0]),
		shared: new Set([a.shared, b.shared < 0 ? -1 : b.shared + lanes]), counterpart, laneB: lanes,
		laneCounterpart: new Map(pairs.flatMap(([mine, theirs]) => [[mine, theirs + lanes], [theirs + lanes, mine]])),
	};
}

/* ---- what differs --------------------------------------------------------------------------- */

/* Edges between threads whose events both have counterparts, without an edge between these: `there` says how the
 * counterparts are ordered instead. Looks at the first `most`; `rest`: there are more. */
function orderDiffers(most) {
	const found = [], known = new Set();
	let looked = 0;
	for (let edge = 0; edge < inFrom.length; edge++)
		known.add(inFrom[edge] * count + inHead[edge]);
	for (let edge = 0; edge < inFrom.length && looked <= most; edge++) {
		const from = inFrom[edge], to = inHead[edge], [a, b] = [data.counterpart[from], data.counterpart[to]];
		if (a < 0 || b < 0 || laneOf(from) === laneOf(to) || known.has(a * count + b))
			continue;
		if (looked++ === most)
			break;
		const there = a < b && chainOf(a, b) ? 'before' : b < a && chainOf(b, a) ? 'after' : 'independent';
		if (there !== 'before')
			found.push({edge, there});
	}
	return {found, rest: looked > most};
}

/* Threads with events that have no counterpart: the first one, and how many. */
function threadsDiffer() {
	const first = data.lanes.map(() => -1), alone = data.lanes.map(() => 0);
	for (let event = 0; event < count; event++)
		if (data.counterpart[event] < 0 && !alone[laneOf(event)]++)
			first[laneOf(event)] = event;
	return data.lanes.map((row, lane) => ({lane, other: data.laneCounterpart.get(lane), first: first[lane], alone: alone[lane]})).filter(at => at.alone);
}
