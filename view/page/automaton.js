'use strict';
/* The automaton of a rule, with the states that a slice is in: layers of states from the start downwards. */

const SVG = document.getElementById('shapes').namespaceURI, AUTOMATON_WIDTH = 360, LAYER = 62, STATE = 12;

function shape(tag, attributes, ...children) {
	const element = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, value);
	element.append(...children);
	return element;
}

const base = name => /^[^(^[]*/.exec(name)[0].trim();
const predsOf = (automaton, move) => move.pred.map(register => automaton.states[move.from].registers[register]);
/* As reports say what was expected: "c after a and b". */
const moveWords = (automaton, move) => `${move.event} ${move.pred.length ? 'after ' + predsOf(automaton, move).join(' and ') : move.from ? 'independent of all earlier events' : 'first'}`;

/* Layers by distance from the start; within a layer, in the order in which states are reached. */
function placeStates(automaton) {
	const layerOf = automaton.states.map(() => -1), layers = [[0]];
	layerOf[0] = 0;
	for (let depth = 0; layers[depth]; depth++) {
		const next = [];
		for (const move of automaton.transitions)
			if (layerOf[move.from] === depth && layerOf[move.to] < 0) {
				layerOf[move.to] = depth + 1;
				next.push(move.to);
			}
		if (next.length)
			layers.push(next);
	}
	return automaton.states.map((state, i) => {
		const layer = layers[layerOf[i]];
		const step = AUTOMATON_WIDTH / layer.length;
		return {x: step * (layer.indexOf(i) + 0.5) - 16, y: 20 + layerOf[i] * LAYER, layer: layerOf[i], room: Math.min(step - 30, AUTOMATON_WIDTH / 2)};
	});
}

/* The event that leads to each state, where it is always the same one: it is written beside the state, not on arrows. */
function entriesOf(automaton) {
	const entering = automaton.states.map(() => new Set());
	for (const move of automaton.transitions)
		entering[move.to].add(move.event);
	return entering.map(events => events.size === 1 ? [...events][0] : null);
}

/* Moves between the same two states are one arrow. */
function arrowsOf(automaton) {
	const arrows = new Map();
	for (const move of automaton.transitions) {
		const key = `${move.from} ${move.to}`;
		arrows.set(key, [...(arrows.get(key) || []), move]);
	}
	return [...arrows.values()];
}

const cutTo = (words, most) => words.length > most ? words.slice(0, Math.max(1, most - 1)) + '…' : words;
const shortLabel = moves => {
	const words = [...new Set(moves.map(move => move.event))];
	return cutTo(words.slice(0, 2).join(', '), 22) + (words.length > 2 ? ` +${words.length - 2}` : '');
};

/* The head of an arrow that ends at the point, in that direction. */
function tipAt(point, dx, dy) {
	const length = Math.hypot(dx, dy), x = dx / length * 6, y = dy / length * 6;
	return ` M${point.x - x - y / 2},${point.y - y + x / 2} L${point.x},${point.y} L${point.x - x + y / 2},${point.y - y - x / 2}`;
}

/* A straight arrow to the next layer; else a curve around the states between. */
function pathOf(a, b) {
	if (a === b)
		return {path: `M${a.x - 8},${a.y - 9} C${a.x - 36},${a.y - 24} ${a.x - 36},${a.y + 24} ${a.x - 8},${a.y + 9}` + tipAt({x: a.x - 8, y: a.y + 9}, 28, -15), x: a.x - 20, y: a.y - 16};
	const dx = b.x - a.x, dy = b.y - a.y, length = Math.hypot(dx, dy), bow = b.layer === a.layer + 1 ? 0 : 8 + length / 7;
	const nx = -dy / length * bow, ny = dx / length * bow, cx = (a.x + b.x) / 2 + 2 * nx, cy = (a.y + b.y) / 2 + 2 * ny;
	const rim = state => {
		const far = Math.hypot(cx - state.x, cy - state.y);
		return {x: state.x + (cx - state.x) / far * STATE, y: state.y + (cy - state.y) / far * STATE};
	};
	const begin = rim(a), end = rim(b);
	return {path: `M${begin.x},${begin.y} Q${cx},${cy} ${end.x},${end.y}` + tipAt(end, end.x - cx, end.y - cy), x: (a.x + b.x) / 2 + nx, y: (a.y + b.y) / 2 + ny + 4};
}

function drawArrow(automaton, places, moves, taken, isNamed) {
	const [{from, to}] = moves, at = pathOf(places[from], places[to]);
	return shape('g', {class: moves.some(taken) ? 'move taken' : 'move'}, shape('title', {}, moves.map(move => moveWords(automaton, move)).join('\n')),
		shape('path', {d: at.path}), isNamed ? '' : shape('text', {x: at.x, y: at.y}, shortLabel(moves)));
}

function drawState(automaton, place, number, entry, how) {
	const state = automaton.states[number], holds = state.registers.length ? `, later events may come right after ${state.registers.join(', ')}` : '';
	return shape('g', {class: `state ${how}`}, shape('title', {}, `state ${number}${state.final ? ', final' : ''}${holds}`),
		shape('circle', {cx: place.x, cy: place.y, r: STATE}), state.final ? shape('circle', {cx: place.x, cy: place.y, r: STATE - 3}) : '',
		shape('text', {x: place.x, y: place.y + 4}, String(number)), entry ? shape('text', {class: 'entry', x: place.x + 15, y: place.y + 4}, cutTo(entry, Math.floor(place.room / 6.5))) : '');
}

/* `now`: the states to be shown; `taken`: whether the step took a move. */
function drawAutomaton(automaton, now, taken, refused) {
	const places = placeStates(automaton), entries = entriesOf(automaton), arrows = arrowsOf(automaton);
	const bows = arrows.map(([move]) => pathOf(places[move.from], places[move.to]).y), top = Math.min(0, ...bows.map(y => y - 16));
	const height = Math.max(...places.map(place => place.y + 20), ...bows.map(y => y + 10)) - top;
	return shape('svg', {class: 'automaton', viewBox: `0 ${top} ${AUTOMATON_WIDTH} ${height}`, role: 'img', 'aria-label': `The rule's automaton in state ${[...now].join(', ')}`},
		...arrows.map(moves => drawArrow(automaton, places, moves, taken, entries[moves[0].to] !== null)),
		...places.map((place, i) => drawState(automaton, place, i, entries[i], now.has(i) ? refused ? 'refused' : 'now' : '')));
}

/* The states of one automaton in [automaton, id, …], numbered as drawn; of a net, the places. */
function statesIn(automaton, number, pairs) {
	const found = new Set();
	for (let i = 0; i < pairs.length; i += 2)
		if (pairs[i] === number)
			found.add(automaton.net ? pairs[i + 1] : automaton.states.findIndex(state => state.id === pairs[i + 1]));
	return found;
}

const movesFrom = (automaton, state) => automaton.transitions.filter(move => move.from === state);

function listMoves(automaton, state) {
	const moves = movesFrom(automaton, state);
	return make('p', {class: 'soft'}, `State ${state}${automaton.states[state].final ? ', final' : ''}: `,
		moves.length ? moves.slice(0, 8).map(move => `${moveWords(automaton, move)} → ${move.to}`).join('; ') + (moves.length > 8 ? `; ${moves.length - 8} more` : '') : 'nothing more may come');
}

/* The automata and nets of the slice's rule, with the states after the step, or the ones that refuse its event. */
function showAutomata(step, previousStep) {
	const automata = data.automata[step.rule], refused = /^refuses/.test(step.does), name = nameOf(step.event).replace(/\.(enter|exit)$/, '');
	const next = step.expected.length ? make('p', {class: 'soft'}, `${refused ? 'Expected' : 'May come next'}: ${step.expected.map(text).join('; ')}`) : '';
	if (!automata)
		return [next, make('p', {class: 'soft'}, 'Nothing is drawn: what follows the rule has too many states.')];
	return [next, ...automata.flatMap((automaton, number) => {
		if (!automaton)
			return [];
		const now = statesIn(automaton, number, step.states);
		if (automaton.net)
			return drawNet(automaton.net, now, refused);
		const before = previousStep && statesIn(automaton, number, previousStep.states);
		// A search may begin at any event. A slice without earlier steps may have begun as a copy of another one.
		const from = state => !before || before.has(state) || (!state && data.rules[step.rule][2] !== 'expect');
		const taken = move => !refused && from(move.from) && now.has(move.to) && base(move.event) === base(name);
		return [drawAutomaton(automaton, now, taken, refused), ...[...now].slice(0, 3).map(state => listMoves(automaton, state))];
	})];
}
