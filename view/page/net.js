'use strict';
/* The net of a rule, with the places that hold tokens: a bar is an event, a circle a place. Operands of & lie side by side
 * between two lines, where a token becomes several and these become one; a frame is what is repeated, in rounds (*) or as
 * copies beside each other (@). */

const SLAB = {height: 22, letter: 6.6}, STEP = 26, PLACE = 6, PAD = 14;

/* Blocks as objects {op, event, kids, number}, numbered as the recognizer does it: each before those in it. */
function numberBlocks(block, counter) {
	const [op, ...kids] = Array.isArray(block) ? block : [''];
	const numbered = {op, event: Array.isArray(block) ? '' : block, number: counter.next++};
	numbered.kids = kids.map(kid => numberBlocks(kid, counter));
	return numbered;
}

/* Places that are one circle: before a block and before what it begins with, or behind it and what it ends with. */
function placesAt(block, side) {
	const {op, kids, number} = block, same = op === ';' ? [kids[side ? 1 : 0]] : op === '+' || op === 'group' ? kids : [];
	return [2 * number + side, ...same.flatMap(kid => placesAt(kid, side))];
}

function measure(block) {
	const {op, kids, event} = block;
	kids.forEach(measure);
	const widths = kids.map(kid => kid.width), most = list => Math.max(0, ...list), sum = widths.reduce((a, b) => a + b, 0);
	const side = op === '&' || op === '+', framed = op === '*' || op === '@';
	block.width = side ? sum + PAD : framed ? sum + 2 * PAD : kids.length ? most(widths) : Math.max(30, Math.min(22, event.length) * SLAB.letter + 12);
	block.height = op === ';' ? kids[0].height + kids[1].height + STEP : op === '&' ? most(kids.map(kid => kid.height)) + 3 * STEP :
		op === '+' ? most(kids.map(kid => kid.height)) + STEP : framed ? kids[0].height + 2 * STEP : kids.length ? kids[0].height : SLAB.height;
}

function drawNet(net, now, refused) {
	const parts = [], line = (x1, y1, x2, y2, how) => parts.push(shape('path', {d: `M${x1},${y1} L${x2},${y2}`, class: how || ''}));
	const place = (x, y, places) => {
		const marked = places.some(at => now.has(at));
		parts.push(shape('g', {class: `place ${marked ? refused ? 'refused' : 'now' : ''}`}, shape('title', {}, marked ? 'a place with a token' : 'a place'),
			shape('circle', {cx: x, cy: y, r: PLACE}), marked ? shape('circle', {class: 'token', cx: x, cy: y, r: 2.5}) : ''));
	};
	const sideBySide = ({kids, width}, x, draw) => kids.reduce((left, kid) => {
		draw(kid, left + kid.width / 2);
		return left + kid.width + PAD;
	}, x - width / 2);
	const show = {
		'': (block, x, y) => {
			if (block.event)
				parts.push(shape('g', {class: 'bar'}, shape('title', {}, block.event), shape('rect', {x: x - block.width / 2, y, width: block.width, height: SLAB.height}),
					shape('text', {x, y: y + 15}, cutTo(block.event, 22))));
			else
				line(x, y, x, y + block.height);
		},
		group: (block, x, y) => at(block.kids[0], x, y),
		';': ({kids: [left, right]}, x, y) => {
			at(left, x, y);
			line(x, y + left.height, x, y + left.height + STEP);
			at(right, x, y + left.height + STEP);
			place(x, y + left.height + STEP / 2, [...placesAt(left, 1), ...placesAt(right, 0)]);
		},
		'+': (block, x, y) => sideBySide(block, x, (kid, kx) => {
			line(x, y, kx, y + STEP / 2);
			line(kx, y + STEP / 2 + kid.height, x, y + block.height);
			at(kid, kx, y + STEP / 2);
		}),
		'&': (block, x, y) => {
			const half = block.width / 2 - PAD / 2;
			line(x - half, y, x + half, y, 'both');
			line(x - half, y + block.height, x + half, y + block.height, 'both');
			sideBySide(block, x, (kid, kx) => {
				line(kx, y, kx, y + 1.5 * STEP);
				line(kx, y + 1.5 * STEP + kid.height, kx, y + block.height);
				at(kid, kx, y + 1.5 * STEP);
				place(kx, y + 0.75 * STEP, placesAt(kid, 0));
				place(kx, y + block.height - 0.75 * STEP, placesAt(kid, 1));
			});
		},
		'*': frame, '@': frame,
	};
	const at = (block, x, y) => show[block.op](block, x, y);
	function frame({op, kids: [kid], width, height}, x, y) {
		parts.push(shape('rect', {class: 'frame', x: x - width / 2, y, width, height, rx: 6}), shape('text', {x: x + width / 2 - 9, y: y + 15}, op));
		line(x, y, x, y + STEP);
		line(x, y + height - STEP, x, y + height);
		at(kid, x, y + STEP);
		place(x, y + STEP / 2, placesAt(kid, 0));
		place(x, y + height - STEP / 2, placesAt(kid, 1));
	}
	const root = numberBlocks(net, {next: 0});
	measure(root);
	const middle = root.width / 2 + 4, height = root.height + 2 * STEP;
	line(middle, STEP / 2, middle, STEP);
	line(middle, height - STEP, middle, height - STEP / 2);
	at(root, middle, STEP);
	place(middle, STEP / 2, placesAt(root, 0));
	place(middle, height - STEP / 2, placesAt(root, 1));
	return shape('svg', {class: 'automaton net', viewBox: `0 0 ${root.width + 8} ${height}`, style: `max-width: ${Math.max(80, root.width + 8)}px`, role: 'img',
		'aria-label': `The rule's net with tokens in ${now.size} places`}, ...parts);
}
