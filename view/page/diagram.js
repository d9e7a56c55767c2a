'use strict';
/* The diagram: which events are shown, where, and how they are drawn. Lanes are columns, time goes down; an item is
 * an event, or several events of a lane in a row that are shown as one. */

const canvas = document.getElementById('diagram'), ctx = canvas.getContext('2d');
const HEADER = 34, GUTTER = 92, DOT = 4, BAR = 4, FONT = '12px ui-monospace, "DejaVu Sans Mono", monospace';
const COLOURS = {
	light: ['#2e7d32', '#6a1b9a', '#ad5700', '#00838f', '#b71c5a', '#5d6d1e', '#3949ab', '#8d5a3b'],
	dark: ['#66bb6a', '#ba8fe0', '#e0973f', '#4dc6d3', '#ee7fa8', '#b5c46a', '#8f9cf0', '#c99a7c'],
};
const view = {
	shown: 'all', rows: 'observed', selected: -1, finding: null, chain: null, // chain: edges that are emphasised
	name: '', object: '', slice: 0, hiddenLanes: new Set(), hiddenKinds: new Set(), opened: new Set(), hits: null, hit: -1,
	top: 0, left: 0, rowHeight: 24, laneWidth: 0,
};
const columnOf = new Int32Array(data.lanes.length);
let items = [], rowCount = 0, itemOf = new Int32Array(count), lanes = [], past = null, future = null, kinds = [];

/* ---- what is shown ----------------------------------------------------------------------- */

const findingEvents = finding => !finding ? [] : [...(finding.events || []), ...(finding.at ? [finding.at] : []),
	...(finding.waits || []).flatMap(wait => [wait.waits, wait.holds])].filter(at => at && at.event !== null).map(at => at.event);

/* The finding's events, how they are ordered or what their threads last knew of each other, and what lies next to these. */
function neighbourhood(finding) {
	const near = new Uint8Array(count), events = findingEvents(finding).slice(0, 40);
	const add = (event, reach) => {
		for (let at = event, i = 0; at >= 0 && i <= reach; at = previous[at], i++)
			near[at] = 1;
		for (let at = event, i = 0; at >= 0 && i <= reach; at = following[at], i++)
			near[at] = 1;
	};
	for (const a of events) {
		add(a, 4);
		for (const b of events) {
			if (a >= b || laneOf(a) === laneOf(b))
				continue;
			const known = [lastKnown(a, b), lastKnown(b, a)];
			const chains = [chainOf(a, b), ...known.map((at, i) => at < 0 ? null : chainOf(at, i ? a : b))];
			for (const edge of chains.flatMap(chain => chain || [])) {
				add(edge.from, 1);
				add(edge.to, 1);
			}
		}
	}
	for (let event = 0; data.counterpart && event < count; event++)
		if (data.counterpart[event] >= 0 && near[event] === 1 && near[data.counterpart[event]] === 0)
			near[data.counterpart[event]] = 2;
	return near;
}

function passes(event) {
	const row = data.events[event];
	if (view.name && text(row[NAME]) !== view.name && !text(row[NAME]).startsWith(view.name + '.'))
		return false;
	if (view.slice && !view.sliceEvents.has(event))
		return false;
	if (!view.object)
		return true;
	return row[ARGS].some(object => text(object) === view.object || objectName(object) === view.object) ||
		partsOf(event).some(part => objectName(part[3]) === view.object) || text(row[RET]) === view.object;
}

/* 1: by itself; 0: may be one of several; 2: not at all. */
function choose() {
	const how = new Uint8Array(count), of = new Set(findingEvents(view.finding));
	const near = view.shown === 'around' ? neighbourhood(view.finding) : null;
	const before = view.shown === 'past' && view.selected >= 0 ? pastOf(view.selected) : null;
	for (let event = 0; event < count; event++) {
		const kept = of.has(event) || event === view.selected || view.opened.has(event);
		if (view.hiddenLanes.has(laneOf(event)) || !passes(event) || (before && !before[event] && event !== view.selected))
			how[event] = 2;
		else if (near)
			how[event] = near[event] || kept ? 1 : 0;
		else
			how[event] = view.shown !== 'linked' || kept || isLinked(event) || previous[event] < 0 ? 1 : 0;
	}
	return how;
}

function chooseLanes(how) {
	const used = new Uint8Array(data.lanes.length);
	for (let event = 0; event < count; event++)
		if (how[event] === 1)
			used[laneOf(event)] = 1;
	lanes = [...used.keys()].filter(lane => used[lane]);
}

/* The length of the longest path to each item. */
function stack() {
	const depth = new Int32Array(count);
	for (let event = 0; event < count; event++) {
		const item = itemOf[event], first = item >= 0 && items[item].first === event;
		let most = previous[event] >= 0 ? depth[previous[event]] : 0;
		for (const edge of edgesTo(event))
			most = Math.max(most, depth[inFrom[edge]]);
		depth[event] = most + (first ? 1 : 0);
		if (first)
			items[item].row = depth[event] - 1;
	}
	items.sort((a, b) => a.row - b.row || a.first - b.first);
	items.forEach((item, number) => item.events.forEach(event => { itemOf[event] = number; }));
}

/* In the row of the event before it, its counterpart in the other run. */
const isBeside = event => data.counterpart && data.counterpart[event] === event - 1 && event > 0 && items.length > 0 && items.at(-1).first === event - 1;

function layout() {
	const how = choose(), open = new Map();
	chooseLanes(how);
	columnOf.fill(-1);
	lanes.forEach((lane, column) => { columnOf[lane] = column; });
	items = [];
	itemOf.fill(-1);
	for (let event = 0; event < count; event++) {
		const lane = laneOf(event), group = open.get(lane);
		if (how[event] === 2 || columnOf[lane] < 0)
			continue;
		if (how[event] === 0 && group) {
			group.events.push(event);
			itemOf[event] = itemOf[group.first];
			continue;
		}
		const item = {first: event, lane, events: [event], row: isBeside(event) ? items.at(-1).row : items.length ? items.at(-1).row + 1 : 0};
		itemOf[event] = items.push(item) - 1;
		if (how[event] === 0)
			open.set(lane, item);
		else
			open.delete(lane);
	}
	if (view.rows === 'causal')
		stack();
	rowCount = items.reduce((most, item) => Math.max(most, item.row + 1), 0);
	if (!view.fixedWidth)
		view.laneWidth = Math.max(lanes.length > 12 ? 60 : data.counterpart ? 100 : 150, Math.min(340, (canvas.clientWidth - GUTTER - 20) / Math.max(1, lanes.length)));
	scroll(view.top, view.left);
}

const isGroup = item => item.events.length > 1;

/* ---- places ------------------------------------------------------------------------------ */

const laneX = lane => GUTTER + 16 + columnOf[lane] * view.laneWidth - view.left;
const rowY = row => HEADER + (row + 0.5) * view.rowHeight - view.top;
const itemY = event => rowY(items[itemOf[event]].row);
const isDrawn = event => event >= 0 && itemOf[event] >= 0;

function scroll(top, left) {
	view.top = Math.max(0, Math.min(top, rowCount * view.rowHeight - canvas.clientHeight + HEADER + 40));
	view.left = Math.max(0, Math.min(left, lanes.length * view.laneWidth + GUTTER + 20 - canvas.clientWidth));
	requestDraw();
}

function reveal(event) {
	if (!isDrawn(event))
		return;
	const y = itemY(event), x = laneX(laneOf(event)), low = canvas.clientHeight - 40;
	if (y < HEADER + 20 || y > low || x < GUTTER || x > canvas.clientWidth - 60)
		scroll(y < HEADER + 20 || y > low ? view.top + y - canvas.clientHeight / 2 : view.top,
			x < GUTTER || x > canvas.clientWidth - 60 ? view.left + x - canvas.clientWidth / 2 : view.left);
}

/* All of these, if they fit; else the first. */
function revealAll(events) {
	const ys = events.filter(isDrawn).map(itemY);
	if (!ys.length)
		return;
	const middle = (Math.min(...ys) + Math.max(...ys)) / 2, fits = Math.max(...ys) - Math.min(...ys) < canvas.clientHeight - HEADER - 60;
	scroll(view.top + (fits ? middle : Math.min(...ys)) - canvas.clientHeight / 2, view.left);
	reveal(events.find(isDrawn));
}

/* The item at a point, or null. */
function itemAt(x, y) {
	const row = Math.floor((y - HEADER + view.top) / view.rowHeight);
	if (y < HEADER)
		return null;
	let best = null;
	for (let i = firstItem(row - 1); i < items.length && items[i].row <= row + 1; i++) {
		const from = laneX(items[i].lane) - 12, off = Math.abs(items[i].row - row);
		if (x >= from && x < from + view.laneWidth && off * view.rowHeight < 6 && (!best || off < Math.abs(best.row - row)))
			best = items[i];
	}
	return best;
}

/* The number of the first item in this row or below. */
function firstItem(row) {
	let low = 0, high = items.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (items[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- drawing ----------------------------------------------------------------------------- */

let colours = {}, drawing = false;

function readColours() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ['back', 'panel', 'line', 'text', 'soft', 'focus', 'bad', 'past', 'future', 'chain', 'mark', 'group'])
		colours[name] = style.getPropertyValue('--' + name).trim();
}

const colour = number => {
	const palette = COLOURS[document.documentElement.classList.contains('dark') ? 'dark' : 'light'];
	return palette[Math.max(0, number) % palette.length];
};
const kindColour = rule => colour(kinds.indexOf(kindName(rule)));

function requestDraw() {
	if (drawing)
		return;
	drawing = true;
	requestAnimationFrame(() => {
		drawing = false;
		draw();
	});
}

function clipped(words, width) {
	const fits = Math.floor(width / 7.3);
	return words.length <= fits ? words : fits > 1 ? words.slice(0, fits - 1) + '…' : '';
}

/* Where there is little room, names of POSIX threads do without what they share. */
const shortened = words => words.length * 7.3 <= view.laneWidth - 34 ? words : words.replace('pthread_', '');

/* With a rim, so that it can be read where edges cross it. */
function write(words, x, y, rim) {
	ctx.strokeStyle = rim;
	ctx.lineWidth = 3;
	ctx.globalAlpha = 0.8;
	ctx.strokeText(words, x, y);
	ctx.globalAlpha = 1;
	ctx.fillText(words, x, y);
}

function line(x1, y1, x2, y2) {
	ctx.beginPath();
	ctx.moveTo(x1, y1);
	ctx.lineTo(x2, y2);
	ctx.stroke();
}

function drawLanes(height) {
	ctx.strokeStyle = colours.line;
	ctx.lineWidth = 1;
	for (const lane of lanes)
		line(laneX(lane), HEADER, laneX(lane), height);
	const first = lanes.find(lane => lane >= data.laneB);
	ctx.lineWidth = 3;
	if (first !== undefined)
		line(laneX(first) - 24, 0, laneX(first) - 24, height);
}

function drawBars(height) {
	for (const bar of bars) {
		if (!isDrawn(bar.from) || (bar.to < count && itemOf[bar.from] === itemOf[bar.to]) || view.hiddenKinds.has(bar.kind))
			continue;
		const from = itemY(bar.from), to = bar.to < count ? (isDrawn(bar.to) ? itemY(bar.to) : from) : height;
		if (to < HEADER || from > height)
			continue;
		ctx.fillStyle = colour(bar.object);
		ctx.globalAlpha = 0.75;
		ctx.fillRect(laneX(bar.lane) - 8 - (bar.column % 3) * (BAR + 1), from, BAR, Math.max(2, to - from));
		ctx.globalAlpha = 1;
	}
}

/* From an edge's source to its target; out of the picture it is clipped. */
function arrow(from, to, colour, width, dashed) {
	const x1 = laneX(laneOf(from)), y1 = itemY(from), x2 = laneX(laneOf(to)), y2 = itemY(to);
	const length = Math.hypot(x2 - x1, y2 - y1) || 1, dx = (x2 - x1) / length, dy = (y2 - y1) / length;
	ctx.strokeStyle = ctx.fillStyle = colour;
	ctx.lineWidth = width;
	ctx.setLineDash(dashed ? [5, 4] : []);
	line(x1 + dx * DOT, y1 + dy * DOT, x2 - dx * (DOT + 4), y2 - dy * (DOT + 4));
	ctx.setLineDash([]);
	const tip = [x2 - dx * (DOT + 1), y2 - dy * (DOT + 1)], size = width > 1.5 ? 8 : 6;
	ctx.beginPath();
	ctx.moveTo(...tip);
	ctx.lineTo(tip[0] - dx * size - dy * size / 2, tip[1] - dy * size + dx * size / 2);
	ctx.lineTo(tip[0] - dx * size + dy * size / 2, tip[1] - dy * size - dx * size / 2);
	ctx.fill();
}

function isOff(from, to, height) {
	const y1 = itemY(from), y2 = itemY(to);
	return (y1 < HEADER - 20 && y2 < HEADER - 20) || (y1 > height && y2 > height);
}

function drawEdges(height) {
	const chain = new Set(view.chain || []);
	for (let edge = 0; edge < inFrom.length; edge++) {
		const from = inFrom[edge], to = inHead[edge];
		if (itemOf[from] < 0 || itemOf[to] < 0 || itemOf[from] === itemOf[to] || isOff(from, to, height))
			continue;
		const strong = chain.has(edge), kind = kindName(inRule[edge]);
		if (laneOf(from) === laneOf(to) || items[itemOf[from]].row >= items[itemOf[to]].row ||
			(!strong && view.hiddenKinds.has(kind)))
			continue;
		ctx.globalAlpha = strong || (!view.chain && view.rowHeight > 6) ? 1 : 0.35;
		arrow(from, to, strong ? colours.chain : kindColour(inRule[edge]), strong ? 3 : 1.3, false);
		ctx.globalAlpha = 1;
	}
}

/* The arrows of a deadlock: from where a thread waits to where the holder acquired what it waits for. */
function drawWaits(height) {
	for (const wait of (view.finding && view.finding.waits) || []) {
		const ends = [wait.waits, wait.holds].map(at => at && at.event !== null ? at.event : -1);
		if (ends.every(isDrawn) && !isOff(...ends, height))
			arrow(...ends, colours.bad, 2.5, true);
	}
}

function dotColour(event) {
	return event === view.selected ? colours.focus : past && past[event] ? colours.past :
		future && future[event] ? colours.future : past ? colours.soft : colours.text;
}

function drawItem(item, positions) {
	const event = item.first, x = laneX(item.lane), y = rowY(item.row), words = view.rowHeight >= 13 && view.laneWidth >= 70;
	const position = positions.get(event), hit = view.hits && item.events.some(at => view.hits.has(at));
	ctx.fillStyle = ctx.strokeStyle = dotColour(event);
	if (isGroup(item)) {
		ctx.fillStyle = colours.group;
		ctx.fillRect(x - 3, y - Math.min(7, view.rowHeight / 2), words ? 64 : 6, Math.min(14, view.rowHeight));
		ctx.fillStyle = hit ? colours.text : colours.soft;
		if (words)
			ctx.fillText(`⋮ ${item.events.length}`, x + 4, y + 4);
		return;
	}
	if ((hit || event === view.selected || position) && words) {
		ctx.globalAlpha = 0.9;
		ctx.fillStyle = hit || position ? colours.mark : colours.group;
		ctx.fillRect(x + 6, y - view.rowHeight / 2 + 1, view.laneWidth - 30, view.rowHeight - 2);
		ctx.globalAlpha = 1;
	}
	ctx.fillStyle = position ? colours.bad : dotColour(event);
	ctx.beginPath();
	ctx.arc(x, y, Math.min(view.rowHeight / 2 + 0.5, position ? DOT + 2 : DOT), 0, 7);
	ctx.fill();
	if (data.counterpart && data.counterpart[event] < 0 && view.rowHeight >= 8) { // hollow
		ctx.fillStyle = colours.back;
		ctx.beginPath();
		ctx.arc(x, y, DOT - 2 + (position ? 2 : 0), 0, 7);
		ctx.fill();
		ctx.fillStyle = position ? colours.bad : dotColour(event);
	}
	if (event === view.selected || (data.counterpart && event === data.counterpart[view.selected])) {
		ctx.strokeStyle = colours.focus;
		ctx.lineWidth = 2;
		ctx.beginPath();
		ctx.arc(x, y, DOT + 4, 0, 7);
		ctx.stroke();
	}
	if (words) {
		ctx.font = position ? 'bold ' + FONT : FONT;
		write(clipped(shortened((position ? position + ' ' : '') + label(event)), view.laneWidth - 34), x + 10, y + 4, position || hit ? colours.mark : colours.back);
		ctx.font = FONT;
	}
}

function drawHeader(width) {
	ctx.fillStyle = colours.panel;
	ctx.fillRect(0, 0, width, HEADER);
	ctx.font = 'bold ' + FONT;
	for (const lane of lanes) {
		ctx.fillStyle = view.selected >= 0 && laneOf(view.selected) === lane ? colours.focus : colours.text;
		ctx.fillText(clipped(threadOf(lane), view.laneWidth - 12), laneX(lane) - 6, severalHosts ? 14 : 21);
	}
	ctx.font = FONT;
	ctx.fillStyle = colours.soft;
	for (const lane of lanes)
		ctx.fillText(clipped(hostName(lane), view.laneWidth - 12), laneX(lane) - 6, 28);
	ctx.fillText(view.rows === 'observed' ? 'time, ms' : 'depth', 8, 21);
	ctx.fillStyle = colours.line;
	ctx.fillRect(0, HEADER - 1, width, 1);
}

/* Times as in the run; a causal depth has none. A short run has more digits. */
const timeDigits = data.events.some(row => row[TIME] >= 1e6) ? 3 : 6;

function drawGutter(from, height) {
	ctx.fillStyle = colours.panel;
	ctx.fillRect(0, HEADER, GUTTER - 14, height);
	ctx.fillStyle = colours.soft;
	let free = HEADER;
	for (let i = from, row = -1; i < items.length; i++) {
		const item = items[i], y = rowY(item.row), ns = data.events[item.first][TIME];
		if (y > height)
			break;
		if (y < free || item.row === row || (ns === null && view.rows === 'observed'))
			continue;
		row = item.row;
		free = y + 15;
		ctx.fillText(view.rows === 'observed' ? (ns / 1e6).toFixed(timeDigits) : String(row + 1), 8, y + 4);
	}
}

/* Where the whole run is in the window, and where the finding's events are in the run. */
function drawMap(width, height) {
	const all = rowCount * view.rowHeight, room = height - HEADER;
	if (all <= room)
		return;
	ctx.fillStyle = colours.group;
	ctx.fillRect(width - 10, HEADER, 10, room);
	ctx.fillStyle = colours.soft;
	ctx.fillRect(width - 10, HEADER + view.top / all * room, 10, Math.max(12, room / all * room));
	ctx.fillStyle = colours.bad;
	for (const event of findingEvents(view.finding).filter(isDrawn))
		ctx.fillRect(width - 10, HEADER + items[itemOf[event]].row / rowCount * room - 1, 10, 3);
}

/* What each of the finding's events is in it: "$1", "waits". */
function positionsOf(finding) {
	const sides = finding ? [...(finding.events || []), ...(finding.at ? [finding.at] : [])].map(at => [at, at.position ? `$${at.position}` : at === finding.events.at(-1) || at === finding.at ? '!' : '·']) : [];
	for (const wait of (finding && finding.waits) || [])
		sides.push([wait.waits, finding.potential ? 'takes' : 'waits'], [wait.holds, 'holds']);
	return new Map(sides.filter(([at]) => at && at.event !== null).map(([at, words]) => [at.event, words]));
}

function draw() {
	const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
	if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
		canvas.width = Math.round(width * scale);
		canvas.height = Math.round(height * scale);
	}
	ctx.setTransform(scale, 0, 0, scale, 0, 0);
	ctx.fillStyle = colours.back;
	ctx.fillRect(0, 0, width, height);
	ctx.font = FONT;
	const from = firstItem(Math.floor((view.top - HEADER) / view.rowHeight) - 1), positions = positionsOf(view.finding);
	drawLanes(height);
	drawBars(height);
	drawEdges(height);
	drawWaits(height);
	for (let i = from; i < items.length && rowY(items[i].row) < height + view.rowHeight; i++)
		drawItem(items[i], positions);
	drawGutter(from, height);
	drawHeader(width);
	drawMap(width, height);
}
