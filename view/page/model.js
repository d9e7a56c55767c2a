'use strict';
/* The run: events in causal order, so that whatever precedes an event has a lower number, with the edges that make
 * this order. An edge is either the lane's own (the previous event of the thread) or one of `inFrom`. */

const LANE = 0, NAME = 1, TIME = 2, EDGES = 3, ARGS = 4, RET = 5, VARS = 6, STACK = 7, MODULE = 8, ID = 9;
/* Characters that change the direction of what follows them would show texts in another order than they have: as escapes. */
const plain = json => json.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, character => '\\\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'));
const data = together(JSON.parse(plain(document.getElementById('data').textContent)));
const text = number => data.texts[number];
const SENDS = 1, RECEIVES = 2, RELEASES = 4, TAKES = 8;
const STATED = -1, UNKNOWN = -2; // instead of a rule: a predecessor that the log names; an edge of no rule that is known
const count = data.events.length;
const nameOf = event => text(data.events[event][NAME]);
const laneOf = event => data.events[event][LANE];

const previous = new Int32Array(count).fill(-1), following = new Int32Array(count).fill(-1);
const inStart = new Int32Array(count + 1);
let inFrom, inRule, inHead, outStart, outTo, outEdge, partStart; // inHead: where an edge is drawn to: the event that receives

/* ---- edges ------------------------------------------------------------------------------- */

function linkLanes() {
	const last = new Int32Array(data.lanes.length).fill(-1);
	for (let event = 0; event < count; event++) {
		const lane = laneOf(event), before = last[lane];
		last[lane] = event;
		// A thread that has ended, and one that got its number, are two. A lane that several share has no order.
		if (before < 0 || nameOf(before) === 'thread::exit' || data.shared.has(lane))
			continue;
		previous[event] = before;
		following[before] = event;
	}
}

function indexParts() {
	partStart = new Int32Array(count + 1);
	for (const part of data.parts)
		partStart[part[0] + 1]++;
	for (let event = 0; event < count; event++)
		partStart[event + 1] += partStart[event];
}

const partsOf = event => data.parts.slice(partStart[event], partStart[event + 1]);
const isLock = rule => rule >= 0 && /^(exclusive|shared)$/.test(data.rules[rule][1]);

/* The rule that both sides have a part in, and the event that receives: an edge may enter right after it, and is drawn there if what
 * receives is above what sends. */
function ruleOf(from, to) {
	const sent = partsOf(from).filter(part => part[2] & SENDS);
	const receives = event => event < 0 ? [] : partsOf(event).filter(part => part[2] & RECEIVES);
	const stated = data.events[to][EDGES].filter((event, i, row) => i % 2 === 0 && row[i + 1]);
	const received = [to, previous[to], ...stated].flatMap(receives), below = received.find(part => part[0] > from);
	for (const exact of [true, false])
		for (const r of received)
			for (const s of sent)
				if (s[3] === r[3] && (s[1] === r[1] || (!exact && isLock(s[1]) && isLock(r[1]))))
					return [r[1], r[0] > from ? r[0] : to];
	return [below ? below[1] : UNKNOWN, to];
}

function indexEdges() {
	let edges = 0;
	for (const row of data.events)
		edges += row[EDGES].length / 2;
	inFrom = new Int32Array(edges);
	inRule = new Int32Array(edges);
	inHead = new Int32Array(edges);
	outStart = new Int32Array(count + 1);
	outTo = new Int32Array(edges);
	outEdge = new Int32Array(edges);
	edges = 0;
	for (let to = 0; to < count; to++) {
		const row = data.events[to][EDGES];
		inStart[to] = edges;
		for (let i = 0; i < row.length; i += 2, edges++) {
			inFrom[edges] = row[i];
			[inRule[edges], inHead[edges]] = row[i + 1] ? [STATED, to] : ruleOf(row[i], to);
			outStart[row[i] + 1]++;
		}
	}
	inStart[count] = edges;
	for (let event = 0; event < count; event++)
		outStart[event + 1] += outStart[event];
	const next = outStart.slice();
	for (let to = 0; to < count; to++)
		for (let edge = inStart[to]; edge < inStart[to + 1]; edge++) {
			outTo[next[inFrom[edge]]] = to;
			outEdge[next[inFrom[edge]]++] = edge;
		}
}

/* The edges that are drawn to the event. */
function edgesTo(event) {
	const edges = [];
	for (const at of [event, following[event]])
		for (let edge = at < 0 ? 0 : inStart[at]; at >= 0 && edge < inStart[at + 1]; edge++)
			if (inHead[edge] === event)
				edges.push(edge);
	return edges;
}

const isLinked = event => outStart[event] < outStart[event + 1] || edgesTo(event).length > 0;

/* ---- locks ------------------------------------------------------------------------------- */

const bars = []; // {lane, object, rule, from, to, column}: held from event `from` to `to`, or to the end (count)

function takeLock(open, event, part) {
	const key = laneOf(event) + ' ' + part[3], bar = open.get(key);
	if (part[2] & (RECEIVES | TAKES)) {
		if (bar)
			bar.depth++;
		else
			open.set(key, {lane: laneOf(event), object: part[3], kind: part[2] & TAKES ? 'lock' : kindName(part[1]), from: event, to: count, depth: 1});
	} else if (bar && !--bar.depth) {
		bar.to = event;
		bars.push(bar);
		open.delete(key);
	}
}

function findLocks() {
	const open = new Map();
	for (let event = 0; event < count; event++) {
		const seen = new Set(); // an unlock may count for readers and for writers
		for (const part of partsOf(event))
			if ((part[2] & (RELEASES | TAKES) || isLock(part[1])) && !seen.has(part[3])) {
				seen.add(part[3]);
				takeLock(open, event, part);
			}
	}
	bars.push(...open.values());
	bars.sort((a, b) => a.from - b.from);
	const columns = data.lanes.map(() => []);
	for (const bar of bars) {
		const ends = columns[bar.lane];
		bar.column = ends.findIndex(end => end < bar.from);
		if (bar.column < 0)
			bar.column = ends.length;
		ends[bar.column] = bar.to;
	}
}

const heldAt = event => bars.filter(bar => bar.lane === laneOf(event) && bar.from <= event && event <= bar.to);

/* ---- order ------------------------------------------------------------------------------- */

/* 1 for each event on a path from the event: along its lane, and by edges. */
function reached(event, along, start, ends) {
	const marks = new Uint8Array(count), stack = [event];
	while (stack.length) {
		const at = stack.pop();
		const visit = next => {
			if (next >= 0 && !marks[next]) {
				marks[next] = 1;
				stack.push(next);
			}
		};
		visit(along[at]);
		for (let edge = start[at]; edge < start[at + 1]; edge++)
			visit(ends[edge]);
	}
	return marks;
}

const pastOf = event => reached(event, previous, inStart, inFrom);
const futureOf = event => reached(event, following, outStart, outTo);

/* The edges between threads on a path from a to b with as few of them as possible; null if there is no path.
 * Breadth first from b, a lane at a time: within a lane steps cost nothing. */
function chainOf(a, b) {
	const by = new Map([[b, null]]); // event: the edge by which it was reached, or null
	let front = [b];
	while (front.length) {
		const next = [];
		for (const start of front)
			for (let at = start; at >= a; at = previous[at]) {
				if (at !== start && by.has(at))
					break;
				if (at !== start)
					by.set(at, {within: start});
				if (at === a)
					return walk(by, a, b);
				for (let edge = inStart[at]; edge < inStart[at + 1]; edge++) {
					const from = inFrom[edge];
					if (from >= a && !by.has(from)) {
						by.set(from, {edge, to: at});
						next.push(from);
					}
				}
			}
		front = next;
	}
	return null;
}

function walk(by, a, b) {
	const edges = [];
	for (let at = a; at !== b;) {
		const step = by.get(at);
		if (step.edge !== undefined)
			edges.push(step.edge);
		at = step.edge !== undefined ? step.to : step.within;
	}
	return edges.map(edge => ({from: inFrom[edge], to: inHead[edge], rule: inRule[edge], edge}));
}

/* The last event of a's lane that precedes b; -1 if there is none. */
function lastKnown(a, b) {
	const past = pastOf(b);
	let at = a;
	while (at >= 0 && !past[at])
		at = previous[at];
	return at;
}

/* ---- rules at work ----------------------------------------------------------------------- */

/* {event, slice, does, left, after, rule, states, expected}: what a slice of a rule did at an event; in order, by slice and by
 * event. */
const stepsOfSlice = new Map(), stepsAt = new Map();

function indexSteps() {
	for (const [event, slice, does, left, after, rule, states, expected] of data.steps) {
		const step = {event, slice, does: text(does), left, after, rule, states, expected};
		for (const [map, key] of [[stepsOfSlice, slice], [stepsAt, event]]) {
			if (!map.has(key))
				map.set(key, []);
			map.get(key).push(step);
		}
	}
}

/* ---- words ------------------------------------------------------------------------------- */

const objectName = object => {
	const variable = data.objects[object];
	return variable ? `${text(variable)} (${text(object)})` : text(object);
};

/* The function that a thread runs: the outermost one, below those of the C library, in most of its stacks. */
function findEntries() {
	const counts = data.lanes.map(() => new Map());
	for (const row of data.events) {
		const functions = row[STACK].map(frame => text(frame).replace(/(\+0x[0-9a-f]+)?( \(.*)?$/, ''))
			.filter(name => name && !/^(_start|__libc_start.*|start_thread|clone3?|__clone3?|0x.*)$/.test(name));
		const of = counts[row[LANE]], outermost = functions.at(-1);
		if (outermost && !outermost.startsWith('_'))
			of.set(outermost, (of.get(outermost) || 0) + 1);
	}
	return counts.map((of, lane) => data.lanes[lane][0] && data.lanes[lane][0] === data.lanes[lane][2] ? 'main' : [...of].sort((a, b) => b[1] - a[1]).map(([name]) => name)[0]);
}

const runName = lane => !data.counterpart ? '' : lane < data.laneB ? 'A ' : 'B ';

const severalHosts = new Set(data.lanes.map(row => row[3])).size > 1;
const hostName = lane => severalHosts && data.lanes[lane][3] ? text(data.lanes[lane][3]) : '';
const laneName = lane => threadOf(lane) + (hostName(lane) ? ` on ${hostName(lane)}` : '');

function threadOf(lane) {
	const [thread, comm] = data.lanes[lane], name = entries[lane] || (comm && text(comm));
	return runName(lane) + (name ? `${name} ${text(thread)}` : thread ? `thread ${text(thread)}` : `chain ${lane + 1}`);
}

function laneTitle(lane) {
	const [thread, comm, process, host] = data.lanes[lane];
	const words = [host && `host ${text(host)}`, process && `process ${text(process)}`, thread && `thread ${text(thread)}`, comm && text(comm)].filter(part => part);
	return words.length ? runName(lane) + words.join(', ') : threadOf(lane);
}

/* "enqueue(3)", "pthread_mutex_lock(m).exit = 0" */
function label(event) {
	const row = data.events[event], [, base, phase] = /^(.*?)(\.enter|\.exit)?$/s.exec(text(row[NAME]));
	const args = row[ARGS].map(object => data.objects[object] ? text(data.objects[object]) : text(object)).join(', ');
	const call = row[ARGS].length || phase ? `${base}(${args})` : base;
	return (phase === '.exit' ? `${call} returned` : call) + (row[RET] ? ` ${phase === '.exit' ? '' : '= '}${text(row[RET])}` : '');
}

const kindName = rule => rule >= 0 ? data.rules[rule][0] : rule === STATED ? 'predecessor' : 'synchronisation';

function timeName(event) {
	const ns = data.events[event][TIME];
	return ns === null ? '' : `${(ns / 1e6).toFixed(6)} ms`;
}

/* "queue.c:35" of "enqueue+0x0 (queue.c:35)" */
function placeOf(frame) {
	const found = / \(([^()]*:\d+)\)$/.exec(frame);
	return found ? found[1] : null;
}

const entries = findEntries(), laneOfThread = new Map(data.lanes.map((row, lane) => [row[0], lane]));
const threadName = thread => laneOfThread.has(thread) ? laneName(laneOfThread.get(thread)) : `thread ${text(thread)}`;
linkLanes();
indexSteps();
indexParts();
indexEdges();
findLocks();
