'use strict';
/* What lies around the diagram: findings, the details of one, of an event, filters, keys. All text goes onto the page
 * as text: names of events are whatever the program, or a log, says. */

const at = id => document.getElementById(id);

/* An element with attributes or handlers, and children: elements or texts. */
function make(tag, attributes, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {}))
		if (typeof value === 'function')
			element.addEventListener(name, value);
		else
			element.setAttribute(name, value);
	fill(element, ...children);
	return element;
}

const fill = (element, ...children) => element.replaceChildren(...children.flat(2).filter(child => child !== null && child !== undefined && child !== ''));

const link = (event, words) => make('a', {click: () => select(event), tabindex: 0, role: 'link',
	keydown: key => { if (key.key === 'Enter') select(event); }}, words || label(event));
const linkAt = side => side.event === null ? `${text(side.name)} (not on this page)` : link(side.event);

/* ---- findings ---------------------------------------------------------------------------- */

const titleOf = side => side.event === null ? text(side.name) : label(side.event);

/* What is alike is one entry: the same rule at the same places. */
function keyOf(finding) {
	const places = findingEvents(finding).map(event => data.events[event][STACK].join() || data.events[event][NAME]);
	return JSON.stringify([finding.run, finding.rule, finding.kind, finding.reason && !places.length, places]);
}

const groups = [...data.findings.reduce((known, finding) => {
	const key = keyOf(finding);
	known.set(key, [...(known.get(key) || []), finding]);
	return known;
}, new Map()).values()];
groups.sort((a, b) => (a[0].kind === 'inconclusive') - (b[0].kind === 'inconclusive'));
const order = groups.flat();

function summary(finding) {
	if (finding.waits)
		return finding.waits.map(wait => `${threadName(wait.thread)} ${finding.potential ? 'takes' : 'waits for'} ${objectName(wait.object)}`).join('; ');
	const sides = finding.events || [], independent = sides.length === 2 && finding.ordered && !finding.order.length && !finding.schedule;
	return sides.map(titleOf).join(independent ? '  ∥  ' : ', ') || (finding.at ? titleOf(finding.at) : finding.reason || '');
}

function showFindings() {
	const list = at('findings');
	fill(list, make('h2', {}, order.length ? `${order.length} finding${order.length > 1 ? 's' : ''}` : 'No findings'),
		...groups.map(group => make('button', {click: () => chooseFinding(group.includes(view.finding) ? view.finding : group[0]),
			'aria-current': String(group.includes(view.finding))},
		group[0].run ? `${group[0].run} ` : '', make('span', {class: 'kind'}, group[0].kind), ` ${group[0].rule}${group.length > 1 ? ` ×${group.length}` : ''}`,
		make('div', {class: 'code'}, summary(group[0])))), ...showDifferences());
}

/* ---- two runs ----------------------------------------------------------------------------- */

const MOST_SHOWN = 20, MOST_SEARCHED = 200;
const differences = data.counterpart && {threads: threadsDiffer(), order: orderDiffers(MOST_SEARCHED)};

const threadDifference = ({lane, other, first, alone}) => make('button', {click: () => select(first)},
	make('span', {class: 'kind'}, laneName(lane)), other === undefined ? ': in this run only' : `: ${alone} event${alone > 1 ? 's' : ''} that ${laneName(other)} does not have`,
	make('div', {class: 'code'}, `${other === undefined ? '' : 'first '}${label(first)}`));

function orderDifference({edge, there}) {
	const from = inFrom[edge], to = inHead[edge], run = lane => runName(lane).trim();
	return make('button', {click: () => { select(to); emphasise([{edge, from, to}], [from, to]); }}, make('span', {class: 'kind'}, `in ${run(laneOf(from))}`),
		`, ${laneName(laneOf(from)).slice(2)} before ${laneName(laneOf(to)).slice(2)}; in ${run(laneOf(data.counterpart[from]))}, ${there === 'after' ? 'after it' : 'independent of it'}`,
		make('div', {class: 'code'}, `${label(from)} —${kindName(inRule[edge])}→ ${label(to)}`));
}

const listed = (list, show, rest) => [...list.slice(0, MOST_SHOWN).map(show), rest ? make('p', {class: 'soft'}, `The first ${MOST_SEARCHED} edges that only one run has were compared, and no others.`) : '',
	list.length > MOST_SHOWN ? make('p', {class: 'soft'}, `and ${list.length - MOST_SHOWN} more`) : ''];

function showDifferences() {
	if (!differences)
		return [];
	const {threads, order: {found: edges, rest}} = differences;
	return [make('h2', {}, 'What differs'), threads.length || edges.length || rest ? '' : make('p', {}, 'Nothing: the same events, in the same order.'),
		...listed(threads, threadDifference), edges.length || rest ? make('h2', {}, 'Order that differs') : '', ...listed(edges, orderDifference, rest)];
}

function showCounterpart(event) {
	if (!data.counterpart)
		return '';
	return data.counterpart[event] < 0 ? 'no counterpart' : link(data.counterpart[event], [`${label(data.counterpart[event])}, ${laneName(laneOf(data.counterpart[event]))}`]);
}

function chooseFinding(finding) {
	if (finding && finding.schedule && !finding.ordered)
		orderHere(finding);
	view.finding = finding;
	view.chain = null;
	view.selected = -1;
	past = future = null;
	if (finding && !findingEvents(finding).length && view.shown === 'around')
		setShown('all');
	layout();
	revealAll(findingEvents(finding));
	showFindings();
	showFinding();
	showEvent();
}

/* ---- why ---------------------------------------------------------------------------------- */

function emphasise(chain, events) {
	view.chain = chain.map(step => step.edge);
	for (const step of chain)
		view.opened.add(step.from).add(step.to);
	layout();
	revealAll([...events, ...chain.flatMap(step => [step.from, step.to])]);
}

function chainList(a, b, chain) {
	return make('ol', {}, make('li', {}, link(a), `  ${laneName(laneOf(a))}`), chain.map(step => make('li', {},
		link(step.from), ' ', make('span', {class: 'soft'}, `—${kindName(step.rule)}→`), ' ', link(step.to), `  ${laneName(laneOf(step.to))}`)),
	make('li', {}, link(b), `  ${laneName(laneOf(b))}`));
}

function explainOrder(names, a, b) {
	const chain = chainOf(a, b), edges = (chain || []).filter(step => laneOf(step.from) !== laneOf(step.to));
	const why = laneOf(a) === laneOf(b) && chain && !edges.length ? ': the same thread did one after the other.' :
		chain ? ` by ${edges.length} edge${edges.length > 1 ? 's' : ''}:` : ' by edges that are not on this page.';
	return make('div', {class: 'pair'}, make('p', {}, make('b', {}, `${names[0]} precedes ${names[1]}`), why),
		edges.length ? [chainList(a, b, edges), make('button', {click: () => emphasise(edges, [a, b])}, 'Show this chain')] : []);
}

/* What the thread of one event knew last of the thread of the other: how far the other may still be. */
function explainKnown(a, b, name) {
	const known = lastKnown(a, b);
	if (known < 0)
		return make('li', {}, `Before ${name}, nothing leads from ${laneName(laneOf(a))} to ${laneName(laneOf(b))}.`);
	const chain = (chainOf(known, b) || []).filter(step => laneOf(step.from) !== laneOf(step.to));
	return make('li', {}, `What ${name} knows of ${laneName(laneOf(a))} ends at `, link(known), ', before the other event. ',
		chain.length ? make('button', {click: () => emphasise(chain, [known, a, b])}, 'Show') : '');
}

const heldWords = event => heldAt(event).map(bar => `${objectName(bar.object)} (${bar.kind})`);

function explainLocks(names, a, b) {
	const both = [a, b].map(heldAt), common = both[0].filter(x => both[1].some(y => y.object === x.object));
	const words = [a, b].map((event, i) => `${names[i]}: ${heldWords(event).join(', ') || 'none'}`).join('; ');
	return make('li', {}, `Locks held, ${words}. ${common.length ? '' : 'No lock is held at both.'}`);
}

function explainPair(finding, i, j) {
	const sides = [finding.events[i], finding.events[j]], names = sides.map(nameInFinding);
	const before = finding.order.some(([x, y]) => x === i && y === j), behind = finding.order.some(([x, y]) => x === j && y === i);
	const [a, b] = sides.map(side => side.event);
	if (a === null || b === null)
		return make('div', {class: 'pair'}, `${names.join(before ? ' precedes ' : ' and ')}${before || behind ? '' : ' are independent'}; not all is on this page.`);
	if (before || behind)
		return before ? explainOrder(names, a, b) : explainOrder(names.reverse(), b, a);
	return make('div', {class: 'pair'}, make('p', {}, make('b', {}, `Nothing orders ${names[0]} and ${names[1]}`), ': neither waits for the other.'),
		make('ul', {}, explainKnown(a, b, names[1]), explainKnown(b, a, names[0]), explainLocks(names, a, b)));
}

const nameInFinding = side => side.position ? `$${side.position}` : titleOf(side);

/* How the events of a prediction were ordered in this run, as far as the page shows it. */
function orderHere(finding) {
	const events = finding.events.map(side => side.event);
	finding.ordered = !events.includes(null);
	events.forEach((b, j) => {
		const before = finding.ordered ? pastOf(b) : [];
		events.forEach((a, i) => before[a] && finding.order.push([i, j]));
	});
}

function explainPairs(finding) {
	const pairs = [], sides = finding.events || [];
	for (let j = 1; j < sides.length && finding.ordered; j++)
		for (let i = 0; i < j && pairs.length < 12; i++)
			pairs.push(explainPair(finding, i, j));
	const all = sides.length * (sides.length - 1) / 2;
	return !all ? [] : [make('h2', {}, finding.schedule ? 'In this run' : 'Why'), ...pairs, pairs.length < all ? make('p', {class: 'soft'}, `${all - pairs.length} further pairs are not explained here.`) : null];
}

const stackAt = side => side.event === null ? [] : stackOf(side.event).slice(0, 3);

function explainWaits(finding) {
	return make('ol', {}, finding.waits.map(wait => make('li', {},
		make('b', {}, threadName(wait.thread)), ` ${finding.potential ? 'takes' : 'waits for'} ${objectName(wait.object)}`,
		wait.waits ? [' at ', linkAt(wait.waits), stackAt(wait.waits)].flat() : [],
		wait.holder ? [finding.potential ? 'which ' : 'held by ', make('b', {}, threadName(wait.holder)), finding.potential ? ' held' : '',
			wait.holds ? [' since ', linkAt(wait.holds), stackAt(wait.holds)].flat() : []].flat() : [])));
}

/* ---- details ------------------------------------------------------------------------------ */

function sourceOf(place) {
	const found = data.sources[place];
	if (!found)
		return null;
	const [first, ...lines] = found, here = Number(place.slice(place.lastIndexOf(':') + 1));
	return make('pre', {}, lines.map((source, i) => make('span', first + i === here ? {class: 'here'} : {}, `${String(first + i).padStart(5)}  ${source}`)));
}

/* Innermost first; the first frame whose source is known is open. */
function stackOf(event) {
	let open = true;
	return data.events[event][STACK].map(number => {
		const frame = text(number), place = placeOf(frame), source = place && sourceOf(place);
		if (!source)
			return make('div', {class: 'code'}, frame);
		const element = make('details', open ? {open: ''} : {}, make('summary', {class: 'code'}, frame), source);
		open = false;
		return element;
	});
}

function showFinding() {
	const finding = view.finding, group = groups.find(among => among.includes(finding)), panel = at('finding');
	if (!finding) {
		fill(panel, make('h2', {}, count ? 'No finding' : 'No events'));
		return;
	}
	const number = group.indexOf(finding), step = by => () => chooseFinding(group[(number + by + group.length) % group.length]);
	fill(panel, make('h2', {}, make('span', {class: 'kind'}, finding.kind), ` of rule ${finding.rule}`),
		group.length > 1 ? make('p', {class: 'steps'}, make('button', {click: step(-1)}, '‹'), `${number + 1} of ${group.length} alike`, make('button', {click: step(1)}, '›')) : '',
		finding.waits ? '' : make('pre', {}, finding.text), finding.place ? make('p', {class: 'soft', title: finding.place}, finding.place.replace(/^\/.*\//, '')) : '',
		finding.where && finding.where.length ? make('p', {}, 'where ' + finding.where.map(([name, value]) => `${text(name)} = ${objectName(value)}`).join(', ')) : '',
		finding.reason ? make('p', {}, finding.reason) : '',
		finding.kind === 'violated' || (finding.expected && finding.expected.length) ? make('p', {}, `expected ${finding.expected.map(text).join(', ') || 'nothing more'}`) : '',
		finding.odds ? make('p', {}, finding.odds) : '',
		finding.schedule ? [make('p', {}, 'The threads run in turns:'), make('ol', {}, finding.schedule.map(turn => make('li', {}, `thread ${text(turn.thread)} until `, linkAt(turn))))].flat() : '',
		finding.waits ? explainWaits(finding) : '',
		...(finding.events || []).concat(finding.at || []).map(side => make('div', {class: 'pair'}, side.position ? make('b', {}, `$${side.position} `) : '', linkAt(side),
			side.event === null ? '' : make('span', {class: 'soft'}, `  ${laneName(laneOf(side.event))}  ${timeName(side.event)}`),
			stackAt(side))),
		...explainPairs(finding));
}

function edgeList(name, edges) {
	return !edges.length ? [] : [make('dt', {}, name), make('dd', {}, edges.slice(0, 20).map(([event, rule]) =>
		make('div', {}, link(event), make('span', {class: 'soft'}, `  ${kindName(rule)}, ${laneName(laneOf(event))}`))),
	edges.length > 20 ? `and ${edges.length - 20} more` : '')];
}

const edgesFrom = event => [...outEdge.subarray(outStart[event], outStart[event + 1])];

/* ---- rules, step by step ------------------------------------------------------------------- */

function showSlice(slice) {
	view.slice = slice;
	view.sliceEvents = new Set((stepsOfSlice.get(slice) || []).map(step => step.event));
	relayout();
	showEvent();
}

const stepWords = step => step.does + (step.left ? `; ${step.left} behaviour${step.left > 1 ? 's' : ''} followed` : '');

/* Another event of the slice that was chosen, or of the first one at the selected event. */
function alongSlice(by) {
	const [first] = stepsAt.get(view.selected) || [], steps = stepsOfSlice.get(view.slice || (first && first.slice)) || [];
	const next = by > 0 ? steps.find(step => step.event > view.selected) : steps.findLast(step => step.event < view.selected);
	if (next)
		select(next.event);
}

/* The slice's last steps, up to this one. */
function explainStep(step) {
	const steps = stepsOfSlice.get(step.slice), number = steps.indexOf(step);
	const to = by => steps.slice(by > 0 ? number + 1 : 0, by > 0 ? undefined : number).filter(other => other.event !== step.event).at(by > 0 ? 0 : -1);
	const before = steps.slice(0, number).filter(other => other.event !== step.event).at(-1);
	const button = (by, words) => to(by) ? make('button', {click: () => select(to(by).event)}, words) : '';
	return make('div', {class: 'pair'}, make('p', {class: 'steps'}, make('b', {}, text(step.slice)), button(-1, '‹'), button(1, '›'),
		make('button', {click: () => showSlice(view.slice === step.slice ? 0 : step.slice)}, view.slice === step.slice ? 'All events' : 'Only its events')),
	make('ol', {start: String(Math.max(1, number - 4))}, steps.slice(Math.max(0, number - 5), number + 1).map(other => make('li', {},
		link(other.event), ` ${stepWords(other)}`, other.after.length ? [' (right after ', ...other.after.flatMap((event, i) => [i ? ', ' : '', link(event)]), ')'] : []))), showAutomata(step, before));
}

const explainSteps = event => !stepsAt.has(event) ? [] : [make('h2', {}, 'Rules'), ...stepsAt.get(event).filter((step, i, all) =>
	all.findLastIndex(other => other.slice === step.slice) === i).map(explainStep)];

const isInA = event => laneOf(event) < data.laneB, eventsOfA = data.events.reduce((sum, row) => sum + (row[LANE] < data.laneB), 0);
const eventsOfRun = event => isInA(event) ? eventsOfA : count - eventsOfA;

function showEvent() {
	const event = view.selected, panel = at('event');
	if (event < 0) {
		panel.replaceChildren();
		return;
	}
	const row = data.events[event], fact = (name, ...value) => value.some(part => part !== '' && part !== null) ? [make('dt', {}, name), make('dd', {}, ...value)] : [];
	const known = [past, future].map(marks => marks.reduce((sum, mark) => sum + mark, 0));
	fill(panel, make('h2', {}, label(event)), make('dl', {}, fact('thread', laneTitle(laneOf(event))), fact('time', timeName(event)),
		fact('event', `${text(row[NAME])}, number ${event + 1}, id ${text(row[ID])}`), fact('module', text(row[MODULE])),
		fact('values', row[ARGS].map(objectName).join(', ')), fact('returned', text(row[RET])),
		fact('with', row[VARS].reduce((words, value, i) => i % 2 ? `${words} = ${objectName(value)}` : `${words}${words ? ', ' : ''}${text(value)}`, '')),
		fact('holds', heldWords(event).join(', ')),
		edgeList('after', edgesTo(event).map(edge => [inFrom[edge], inRule[edge]])),
		edgeList('before', edgesFrom(event).map(edge => [inHead[edge], inRule[edge]])),
		fact('order', `${known[0]} events precede it, ${known[1]} follow, ${eventsOfRun(event) - 1 - known[0] - known[1]} are independent of it`),
		fact('counterpart', showCounterpart(event))),
	...stackOf(event), ...explainSteps(event));
}

function select(event) {
	view.selected = event;
	past = event < 0 ? null : pastOf(event);
	future = event < 0 ? null : futureOf(event);
	if (event >= 0 && (!isDrawn(event) || isGroup(items[itemOf[event]])) || view.shown === 'past') {
		view.hiddenLanes.delete(laneOf(event));
		view.opened.add(event);
		layout();
	}
	if (event >= 0 && !isDrawn(event)) { // a filter hides it
		view.slice = 0;
		view.name = view.object = at('by-name').value = at('by-object').value = '';
		layout();
	}
	reveal(event);
	requestDraw();
	showEvent();
}

/* ---- search and filters ------------------------------------------------------------------- */

function search() {
	const wanted = at('search').value.toLowerCase();
	const texts = wanted ? data.texts.map(is => is.toLowerCase().includes(wanted)) : [];
	view.hits = wanted ? new Set() : null;
	for (let event = 0; event < count && wanted; event++) {
		const row = data.events[event];
		if (texts[row[NAME]] || row[ARGS].some(object => texts[object] || texts[data.objects[object]]) || texts[row[RET]] ||
			row[STACK].some(frame => texts[frame]) || data.lanes[laneOf(event)].some(part => texts[part]))
			view.hits.add(event);
	}
	at('found').textContent = wanted ? `${view.hits.size} found` : '';
	requestDraw();
}

function nextHit(by) {
	const hits = [...(view.hits || [])];
	if (!hits.length)
		return;
	const next = by > 0 ? hits.find(event => event > view.selected) : hits.findLast(event => event < view.selected);
	select(next === undefined ? hits.at(by > 0 ? 0 : -1) : next);
	at('found').textContent = `${hits.indexOf(view.selected) + 1} of ${hits.length}`;
}

function setShown(shown) {
	view.shown = at('shown').value = shown;
	view.opened.clear();
}

function relayout() {
	layout();
	if (isDrawn(view.selected))
		reveal(view.selected);
	else
		revealAll(findingEvents(view.finding));
}

function zoom(factor) {
	const middle = (view.top + canvas.clientHeight / 2) / view.rowHeight;
	view.rowHeight = Math.max(1, Math.min(60, view.rowHeight * factor));
	scroll(middle * view.rowHeight - canvas.clientHeight / 2, view.left);
}

function showLegend() {
	kinds = [...new Set([...inRule].map(kindName))].sort();
	at('legend').replaceChildren(...kinds.map((kind, i) => {
		const box = make('input', {type: 'checkbox', change: () => {
			view.hiddenKinds[box.checked ? 'delete' : 'add'](kind);
			requestDraw();
		}}), mark = make('i', {});
		box.checked = !view.hiddenKinds.has(kind);
		mark.style.borderColor = colour(i);
		return make('label', {}, box, mark, kind);
	}), make('span', {class: 'soft'}, `${bars.length ? 'Bars beside a lane: locks held. ' : ''}With an event selected: `,
		make('span', {class: 'past'}, 'its past'), ', ', make('span', {class: 'future'}, 'what follows it'), `, and what is independent of it.${data.counterpart ? ' Hollow: not in the other run.' : ''}`));
}

function showLaneChoice() {
	at('lanes').replaceChildren(...data.lanes.map((row, lane) => {
		const box = make('input', {type: 'checkbox', change: () => {
			view.hiddenLanes[box.checked ? 'delete' : 'add'](lane);
			relayout();
		}});
		box.checked = true;
		return make('label', {}, box, ' ', laneTitle(lane));
	}));
}

function showChoices() {
	const names = new Set(data.events.map(row => text(row[NAME]))), objects = new Set(data.parts.map(part => part[3]).filter(object => object).map(objectName));
	at('names').append(...[...names].sort().slice(0, 1000).map(value => make('option', {value})));
	at('objects').append(...[...objects].sort().slice(0, 1000).map(value => make('option', {value})));
}

/* ---- keys and pointer ---------------------------------------------------------------------- */

function moveRow(by) {
	if (!items.length)
		return;
	const shown = items.length - 1, now = isDrawn(view.selected) ? itemOf[view.selected] : firstItem(Math.floor(view.top / view.rowHeight)) - (by > 0 ? 1 : 0);
	select(items[Math.max(0, Math.min(shown, now + by))].first);
}

function moveLane(by) {
	if (!isDrawn(view.selected))
		return;
	const to = lanes[lanes.indexOf(laneOf(view.selected)) + by], row = items[itemOf[view.selected]].row;
	const near = items.filter(item => item.lane === to).sort((a, b) => Math.abs(a.row - row) - Math.abs(b.row - row))[0];
	if (near)
		select(near.first);
}

function alongLane(by) {
	const to = view.selected < 0 ? -1 : by > 0 ? following[view.selected] : previous[view.selected];
	if (to >= 0)
		select(to);
}

function openGroup() {
	const item = isDrawn(view.selected) ? items[itemOf[view.selected]] : null;
	if (item && isGroup(item)) {
		item.events.slice(0, 200).forEach(event => view.opened.add(event));
		layout();
		reveal(view.selected);
	}
}

function nextFinding(by) {
	if (order.length)
		chooseFinding(order[(order.indexOf(view.finding) + by + order.length) % order.length]);
}

const KEYS = [
	['ArrowDown', 'next row', () => moveRow(1)], ['ArrowUp', 'previous row', () => moveRow(-1)],
	['ArrowRight', 'lane to the right', () => moveLane(1)], ['ArrowLeft', 'lane to the left', () => moveLane(-1)],
	['j', 'next event of the thread', () => alongLane(1)], ['k', 'previous event of the thread', () => alongLane(-1)],
	...data.steps.length ? [['.', 'next event of the slice', () => alongSlice(1)], [',', 'previous event of the slice', () => alongSlice(-1)]] : [],
	[']', 'next finding', () => nextFinding(1)], ['[', 'previous finding', () => nextFinding(-1)],
	['f', 'back to the finding', () => chooseFinding(view.finding)],
	['PageDown', 'a page down', () => scroll(view.top + canvas.clientHeight - HEADER, view.left)],
	['PageUp', 'a page up', () => scroll(view.top - canvas.clientHeight + HEADER, view.left)],
	['Home', 'the beginning', () => scroll(0, 0)], ['End', 'the end', () => scroll(Infinity, view.left)],
	['/', 'search', () => at('search').focus()], ['n', 'next search result', () => nextHit(1)], ['N', 'previous search result', () => nextHit(-1)],
	['Enter', 'open a group of events', openGroup], ['+', 'zoom in', () => zoom(1.25)], ['-', 'zoom out', () => zoom(0.8)],
	['Escape', 'no selection', () => { view.chain = null; select(-1); }], ['?', 'these keys', () => at('keys').showModal()],
];

function onKey(key) {
	const found = KEYS.find(([name]) => name === key.key);
	if (!found || key.ctrlKey || key.metaKey || key.altKey || /^(INPUT|SELECT|SUMMARY)$/.test(key.target.tagName) || at('keys').open)
		return;
	if (key.key === 'Enter' && key.target !== canvas)
		return;
	key.preventDefault();
	found[2]();
}

function onClick(click) {
	const item = itemAt(click.offsetX, click.offsetY);
	if (click.offsetX > canvas.clientWidth - 10 && click.offsetY > HEADER)
		scroll((click.offsetY - HEADER) / (canvas.clientHeight - HEADER) * rowCount * view.rowHeight - canvas.clientHeight / 2, view.left);
	else if (item && isGroup(item)) {
		view.selected = item.first;
		openGroup();
		select(item.first);
	} else
		select(item ? item.first : -1);
}

function onMove(move) {
	const item = itemAt(move.offsetX, move.offsetY);
	const bar = item && bars.find(held => held.lane === item.lane && held.from <= item.first && item.first <= held.to);
	canvas.title = item ? `${isGroup(item) ? `${item.events.length} events` : label(item.first)}\n${laneTitle(item.lane)}${bar ? `\nholds ${heldWords(item.first).join(', ')}` : ''}` : '';
	if (move.buttons && (move.movementX || move.movementY))
		scroll(view.top - move.movementY, view.left - move.movementX);
}

function onWheel(wheel) {
	wheel.preventDefault();
	if (wheel.ctrlKey)
		zoom(wheel.deltaY < 0 ? 1.15 : 0.87);
	else
		scroll(view.top + (wheel.shiftKey ? 0 : wheel.deltaY), view.left + (wheel.shiftKey ? wheel.deltaY : wheel.deltaX));
}

/* ---- the beginning ------------------------------------------------------------------------- */

function listen() {
	at('search').addEventListener('input', search);
	at('search').addEventListener('keydown', key => {
		if (key.key === 'Enter')
			nextHit(key.shiftKey ? -1 : 1);
		if (key.key === 'Escape')
			canvas.focus();
	});
	at('by-name').addEventListener('change', () => { view.name = at('by-name').value; relayout(); });
	at('by-object').addEventListener('change', () => { view.object = at('by-object').value; relayout(); });
	at('shown').addEventListener('change', () => { setShown(at('shown').value); relayout(); });
	at('rows').addEventListener('change', () => { view.rows = at('rows').value; relayout(); });
	at('in').addEventListener('click', () => zoom(1.25));
	at('out').addEventListener('click', () => zoom(0.8));
	at('help').addEventListener('click', () => at('keys').showModal());
	at('theme').addEventListener('click', () => setTheme(!document.documentElement.classList.contains('dark')));
	document.addEventListener('keydown', onKey);
	canvas.addEventListener('click', onClick);
	canvas.addEventListener('mousemove', onMove);
	canvas.addEventListener('wheel', onWheel, {passive: false});
	new ResizeObserver(layout).observe(canvas);
}

function setTheme(dark) {
	document.documentElement.classList.toggle('dark', dark);
	readColours();
	showLegend();
	requestDraw();
}

const UNORDERED = 'No rule says what synchronises the threads, so the order between their events is not known: add pthread.dpe to the specifications.';

function begin() {
	document.title = `dpe: ${data.title}`;
	at('title').textContent = data.title;
	const ordered = data.lanes.length < 2 || inFrom.length || data.rules.some(rule => rule[1]);
	at('notes').replaceChildren(...[...data.notes, ...ordered ? [] : [UNORDERED]].map(note => make('div', {}, note)));
	at('key-list').replaceChildren(...KEYS.flatMap(([name, words]) => [make('dt', {}, name), make('dd', {}, words)]));
	setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
	showLaneChoice();
	showChoices();
	listen();
	setShown(order.length && count > 60 ? 'around' : 'all');
	chooseFinding(order[0] || null);
	canvas.focus();
}

begin();
