'use strict';
/* Two runs as one: the second one's lanes beside the first one's, and its events in rows with the events that
 * they are alike with. A is the run that the page is about, B the one beside it (data.beside). */

const MOST_EDITS = 2000; // of one thread; from there on nothing is alike

/* ---- which threads are alike ---------------------------------------------------------------- */

/* By whom a thread was created, as the how manieth; "" for the first thread of a process. Threads of equal numbers
 * that nobody created are alike, and so are the others, in their order. */
function threadKeys(run, other) {
	const laneOfText = new Map(run.lanes.map((row, lane) => [row[0], lane])), keys = run.lanes.map(() => null), made = run.lanes.map(() => 0);
	for (const row of run.events)
		if (run.texts[row[1]] === 'thread::create' && laneOfText.has(row[4][0]))
			keys[laneOfText.get(row[4][0])] = [row[0], ++made[row[0]]];
	const numbers = new Set(other.lanes.map(row => other.texts[row[0]])), host = lane => run.texts[run.lanes[lane][3]] || '';
	let first = 0;
	const root = lane => `${host(lane)} ` + (run.lanes[lane][0] && numbers.has(run.texts[run.lanes[lane][0]]) ? `thread ${run.texts[run.lanes[lane][0]]}` : `first ${first++}`);
	const words = run.lanes.map(() => null);
	const wordsOf = lane => {
		if (words[lane] === null) {
			words[lane] = ''; // of two threads that created each other, as numbers come again
			words[lane] = keys[lane] ? `${wordsOf(keys[lane][0])}/${keys[lane][1]}` : root(lane);
		}
		return words[lane];
	};
	return run.lanes.map((row, lane) => wordsOf(lane));
}

/* ---- which events are alike ----------------------------------------------------------------- */

/* Addresses and threads have other numbers in another run: variables have their names, other objects the order in
 * which the thread first meets them. */
function eventKeys(run) {
	const threads = new Set(run.lanes.map(row => row[0])), known = run.lanes.map(() => new Map());
	return run.events.map(row => {
		const met = known[row[0]], words = number => {
			const is = run.texts[number];
			if (run.objects[number])
				return run.texts[run.objects[number]];
			if (number && threads.has(number))
				return 'thread';
			if (!/^0x[0-9a-f]+$/i.test(is))
				return is;
			if (!met.has(number))
				met.set(number, met.size);
			return `object ${met.get(number)}`;
		};
		return `${run.texts[row[1]]}(${row[4].map(words).join(', ')})`;
	});
}

const byLane = run => {
	const events = run.lanes.map(() => []);
	run.events.forEach((row, event) => events[row[0]].push(event));
	return events;
};

/* The shortest script of edits from one list to another (Myers): pairs of places that stay. */
function alikeIn(a, b) {
	const pairs = [];
	let begin = 0, endA = a.length, endB = b.length;
	while (begin < endA && begin < endB && a[begin] === b[begin])
		pairs.push([begin, begin++]);
	while (endA > begin && endB > begin && a[endA - 1] === b[endB - 1])
		pairs.push([--endA, --endB]);
	const n = endA - begin, m = endB - begin, most = Math.min(n + m, MOST_EDITS), furthest = new Int32Array(2 * most + 3), trace = [];
	for (let edits = 0; edits <= most; edits++) {
		trace.push(furthest.slice(most - edits, most + edits + 3));
		for (let k = -edits; k <= edits; k += 2) {
			const down = k === -edits || (k !== edits && furthest[most + k] < furthest[most + k + 2]);
			let x = down ? furthest[most + k + 2] : furthest[most + k] + 1, y = x - k;
			while (x < n && y < m && a[begin + x] === b[begin + y]) {
				x++;
				y++;
			}
			furthest[most + k + 1] = x;
			if (x >= n && y >= m)
				return [...pairs, ...walkBack(trace, n, m).map(([i, j]) => [begin + i, begin + j])];
		}
	}
	return pairs;
}

/* trace[edits][edits + k + 1]: how far the diagonal k had come before so many edits. */
function walkBack(trace, x, y) {
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

/* Event of A: its event in B, or -1; and the other way round. */
function pairEvents(a, b) {
	const keysB = threadKeys(b, a), laneOfKey = new Map(keysB.map((key, lane) => [key, lane]));
	const keys = [a, b].map(eventKeys), lists = [a, b].map(byLane), to = new Int32Array(a.events.length).fill(-1), from = new Int32Array(b.events.length).fill(-1);
	threadKeys(a, b).forEach((key, lane) => {
		if (!laneOfKey.has(key))
			return;
		const mine = lists[0][lane], theirs = lists[1][laneOfKey.get(key)];
		for (const [i, j] of alikeIn(mine.map(event => keys[0][event]), theirs.map(event => keys[1][event]))) {
			to[mine[i]] = theirs[j];
			from[theirs[j]] = mine[i];
		}
	});
	return [to, from];
}

/* ---- one run of two ------------------------------------------------------------------------- */

/* Places in one list: in each run the order stays, and events that are alike come one right after the other where
 * both orders allow it. */
function placesOf(to, from) {
	const places = [new Int32Array(to.length), new Int32Array(from.length)];
	let i = 0, j = 0, at = 0;
	while (i < to.length || j < from.length) {
		if (i < to.length && to[i] === j) {
			places[0][i++] = at++;
			places[1][j++] = at++;
		} else if (j < from.length && (from[j] < i || i === to.length)) // alone, or what it is alike with has been
			places[1][j++] = at++;
		else
			places[0][i++] = at++;
	}
	return places;
}

/* All numbers of a run in those of both: `event` and `text` of a number there, `lanes` and `rules` that come before. */
function moved(run, event, text, lanes, rules, name) {
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

/* What the page shows: one run as it is; of two, `alike` (by event the event of the other run, or -1) and `laneB`. */
function together(a) {
	const b = a.beside, lanes = a.lanes.length, texts = a.texts.length;
	if (!b)
		return {...a, shared: new Set([a.shared]), alike: null, laneB: lanes};
	const [to, from] = pairEvents(a, b), places = placesOf(to, from), alike = new Int32Array(to.length + from.length).fill(-1);
	to.forEach((other, event) => { alike[places[0][event]] = other < 0 ? -1 : places[1][other]; });
	from.forEach((other, event) => { alike[places[1][event]] = other < 0 ? -1 : places[0][other]; });
	const runs = [moved(a, event => places[0][event], number => number, 0, 0, 'A'),
		moved(b, event => places[1][event], number => number ? texts + number - 1 : 0, lanes, a.rules.length, 'B')];
	const all = member => runs.flatMap(run => run[member]), events = new Array(alike.length);
	runs.forEach((run, i) => run.events.forEach((row, event) => { events[places[i][event]] = row; }));
	return {
		title: `A: ${a.title}   B: ${b.title}`, texts: [...a.texts, ...b.texts.slice(1)], lanes: all('lanes'), rules: all('rules'), notes: all('notes'),
		findings: all('findings'), sources: {...b.sources, ...a.sources}, objects: Object.fromEntries(all('objects')), automata: Object.fromEntries(all('automata')),
		events, parts: all('parts').sort((x, y) => x[0] - y[0]), steps: all('steps').sort((x, y) => x[0] - y[0]),
		shared: new Set([a.shared, b.shared < 0 ? -1 : b.shared + lanes]), alike, laneB: lanes,
	};
}

/* ---- what differs --------------------------------------------------------------------------- */

/* Edges between threads of one run, from and to events that the other has, too, where it has no such edge: how these
 * events are ordered there. Of the first `most` such edges; `rest`: there are more. */
function orderDiffers(most) {
	const found = [], known = new Set();
	let looked = 0;
	for (let edge = 0; edge < inFrom.length; edge++)
		known.add(inFrom[edge] * count + inHead[edge]);
	for (let edge = 0; edge < inFrom.length && looked <= most; edge++) {
		const from = inFrom[edge], to = inHead[edge], [a, b] = [data.alike[from], data.alike[to]];
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

/* Each pair of threads that does not do the same: the first event that the other one has not, and how many. */
function threadsDiffer() {
	const first = data.lanes.map(() => -1), alone = data.lanes.map(() => 0), other = data.lanes.map(() => -1);
	for (let event = 0; event < count; event++) {
		const lane = laneOf(event);
		if (data.alike[event] >= 0)
			other[lane] = laneOf(data.alike[event]);
		else if (!alone[lane]++)
			first[lane] = event;
	}
	return data.lanes.map((row, lane) => ({lane, other: other[lane], first: first[lane], alone: alone[lane]})).filter(at => at.alone);
}
