// SPDX-License-Identifier: GPL-3.0-or-later
// page.js - a trace in a browser: a flame graph, a timeline by thread, a table of functions
//
// The page holds its data as JSON in an element of its own (format_html.c):
//
//     command, pid, tracer     what was traced
//     overwritten, unrecorded  what is lost; kernel_lost: of what the kernel has told
//     names                    [name, module, place in the source] of each function
//     functions                how many of the names are those of functions: behind them stands what
//                              the kernel has told (system calls, times off the processor, faults)
//     threads                  { tid, name, calls }
//     marks                    [tid, ns, text] of each hit of a marker
//
// or, of a tracer that samples, `unit` and `tree`, [parent, name, count] of each node, in place of
// threads. `calls` has four numbers for each call, a caller before the calls that it makes:
// function, ns since the start of the call before it, ns that it took, and its depth * 8 + flags.
//
// Names are strangers': they are drawn, or become text of elements, and never markup.
'use strict';

const LEFT = 1, OPEN = 2, CUT = 4;
const ROW = 18, FONT = '12px sans-serif', LABEL = 14;
const data = JSON.parse(document.getElementById('data').textContent);
// True for what the kernel has told: it is in the timeline, not in sums of functions.
const isKernel = (name) => name >= data.functions;
const byId = (id) => document.getElementById(id);

function make(tag, text, parent) {
	const element = document.createElement(tag);

	element.textContent = text;
	parent.append(element);
	return element;
}

// 1234567 -> "1.235 ms", or a number of samples.
function amount(value) {
	if (data.unit && data.unit !== 'ns')
		return `${value} ${data.unit}`;
	for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['us', 1e3]])
		if (Math.abs(value) >= size)
			return `${(value / size).toPrecision(4)} ${unit}`;
	return `${Math.round(value)} ns`;
}

const percent = (part, all) => `${(all ? 100 * part / all : 0).toFixed(2)} %`;

// --- The data: calls in typed arrays, and all chains of calls as a tree.

// The calls of all threads, one behind the other.
function readCalls() {
	const n = data.threads.reduce((sum, thread) => sum + thread.calls.length / 4, 0);
	const calls = {
		n, kernel: 0, name: new Uint32Array(n), start: new Float64Array(n), end: new Float64Array(n),
		depth: new Uint32Array(n), flags: new Uint8Array(n),
	};
	let at = 0;

	for (const thread of data.threads) {
		let start = 0;

		thread.lanes = [];
		thread.whole = 0;
		for (let i = 0; i < thread.calls.length; i += 4, at++) {
			const [name, later, took, how] = thread.calls.slice(i, i + 4);

			start += later;
			calls.name[at] = name;
			calls.kernel += isKernel(name);
			calls.start[at] = start;
			calls.end[at] = start + took;
			calls.depth[at] = how >> 3;
			calls.flags[at] = how & 7;
			(thread.lanes[how >> 3] ||= []).push(at);
		}
		thread.calls = null;
	}
	return calls;
}

class Node {
	constructor(name, parent) {
		this.name = name; // number of the function; -1: a thread, which has a label
		this.parent = parent;
		this.depth = parent ? parent.depth + 1 : 0;
		this.children = new Map();
		this.own = this.total = this.calls = 0;
		this.label = '';
	}

	child(key, name) {
		let node = this.children.get(key);

		if (!node) {
			node = new Node(name, this);
			this.children.set(key, node);
		}
		return node;
	}
}

// What a node's frame says.
const title = (node) => node.label || data.names[node.name][0];

function threadLabel(thread) {
	return `${thread.name || data.command} (thread ${thread.tid})`;
}

// The chains of all calls. A call that began before the oldest record has no known time of its own.
function treeOfCalls(calls, apart) {
	const root = new Node(-1, null);
	let at = 0;

	for (const thread of data.threads) {
		const top = apart ? root.child(`t${thread.tid}`, -1) : root;
		const open = [top], cut = [0];
		const n = thread.lanes.reduce((sum, lane) => sum + lane.length, 0);

		top.label = apart ? threadLabel(thread) : '';
		for (const end = at + n; at < end; at++) {
			const depth = calls.depth[at], took = calls.end[at] - calls.start[at];

			if (isKernel(calls.name[at])) {
				open[depth + 1] = open[depth];
				cut[depth + 1] = cut[depth];
				continue;
			}
			const node = open[depth].child(calls.name[at], calls.name[at]);

			node.calls++;
			node.own += calls.flags[at] & CUT ? 0 : took;
			if (depth && !cut[depth])
				open[depth].own -= took;
			open[depth + 1] = node;
			cut[depth + 1] = calls.flags[at] & CUT;
		}
	}
	return root;
}

function treeOfSamples() {
	const root = new Node(-1, null), nodes = [];

	for (const [parent, name, count] of data.tree) {
		const node = (parent < 0 ? root : nodes[parent]).child(name, name);

		node.own += count;
		nodes.push(node);
	}
	return root;
}

// Sums of all nodes; returns the depth of the deepest.
function addUp(root) {
	const order = [root];
	let deepest = 0;

	for (let i = 0; i < order.length; i++)
		order[i].children.forEach((child) => order.push(child));
	for (const node of order.reverse()) {
		node.own = Math.max(node.own, 0);
		node.total += node.own;
		if (node.parent)
			node.parent.total += node.total;
		deepest = Math.max(deepest, node.depth);
		node.sorted = [...node.children.values()].sort((a, b) => b.total - a.total);
	}
	return deepest;
}

// --- Search: the functions that are meant, and how much was found.

const search = { names: new Set(), text: '', hits: [], at: -1 };

function matches(text) {
	const regex = /^\/(.+)\/$/.exec(text);

	if (!regex)
		return (name) => name.toLowerCase().includes(text.toLowerCase());
	try {
		const wanted = new RegExp(regex[1], 'i');

		return (name) => wanted.test(name);
	} catch {
		return () => false;
	}
}

// The time within functions that were found: each nanosecond counts once.
function foundTotal(root) {
	const work = [root];
	let sum = 0;

	while (work.length) {
		const node = work.pop();

		if (node.name >= 0 && search.names.has(node.name))
			sum += node.total;
		else
			node.sorted.forEach((child) => work.push(child));
	}
	return sum;
}

function find(text) {
	const isWanted = matches(text);

	search.text = text;
	search.names = new Set();
	search.hits = [];
	search.at = -1;
	if (text)
		data.names.forEach((name, i) => isWanted(name[0]) && search.names.add(i));
	if (calls)
		for (let i = 0; i < calls.n; i++)
			if (search.names.has(calls.name[i]))
				search.hits.push(i);
	byId('found').textContent = !text ? '' :
		`functions: ${search.names.size}` + (calls ? `, calls: ${search.hits.length}` : '') +
		`, ${percent(foundTotal(flame.root), flame.root.total)} of the time`;
	redraw();
}

// --- Canvases that scroll: a view is as high as the window lets it be, its content is higher.

class View {
	constructor(id) {
		this.box = byId(id);
		this.canvas = this.box.querySelector('canvas');
		this.space = this.box.querySelector('.space');
		this.context = this.canvas.getContext('2d');
		this.box.addEventListener('scroll', () => redraw());
		this.canvas.addEventListener('mousemove', (event) => this.hover(event));
		this.canvas.addEventListener('mouseleave', () => byId('tip').hidden = true);
	}

	// The frame's place on the canvas, ready to be drawn on.
	begin(height) {
		const scale = window.devicePixelRatio || 1;

		this.space.style.height = `${height}px`;
		this.box.style.height = `${Math.min(height, window.innerHeight * 0.6)}px`;
		this.width = this.box.clientWidth;
		this.height = this.box.clientHeight;
		if (this.canvas.width !== Math.round(this.width * scale) ||
		    this.canvas.height !== Math.round(this.height * scale)) {
			this.canvas.width = Math.round(this.width * scale);
			this.canvas.height = Math.round(this.height * scale);
			this.canvas.style.width = `${this.width}px`;
			this.canvas.style.height = `${this.height}px`;
		}
		this.context.setTransform(scale, 0, 0, scale, 0, 0);
		this.context.clearRect(0, 0, this.width, this.height);
		this.context.font = FONT;
		this.context.textBaseline = 'middle';
		this.top = this.box.scrollTop;
	}

	// One frame, with as much of its text as there is room for.
	frame(x, y, width, colour, text) {
		const right = Math.min(x + width, this.width), left = Math.max(x, 0);

		this.context.fillStyle = colour;
		this.context.fillRect(left, y, Math.max(right - left - 0.5, 0.5), ROW - 1);
		if (right - left < 24)
			return;
		let shown = text.slice(0, (right - left) / 4);

		while (shown.length > 2 && this.context.measureText(shown).width > right - left - 6)
			shown = shown.slice(0, Math.min(shown.length - 1,
				Math.floor(shown.length * (right - left) / this.context.measureText(shown).width)));
		this.context.fillStyle = '#111';
		this.context.fillText(shown.length < text.length ? `${shown.slice(0, -1)}…` : shown,
			left + 3, y + ROW / 2);
	}

	hover(event) {
		const box = this.canvas.getBoundingClientRect(), tip = byId('tip');
		const lines = this.describe(event.clientX - box.left, event.clientY - box.top + this.top);

		tip.hidden = !lines;
		if (!lines)
			return;
		tip.replaceChildren();
		lines.forEach((line) => make('div', line, tip));
		tip.style.left = `${Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8)}px`;
		tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8)}px`;
	}
}

// Warm colours by name, so that a function has the same one everywhere; cold ones are the kernel's.
const colours = data.names.map((name, i) => {
	let hash = 0;

	for (const sign of name[0])
		hash = (hash * 31 + sign.codePointAt(0)) | 0;
	if (isKernel(i))
		return `hsl(${(hash & 0xff) * 40 / 256 + 190} 45% ${68 + (hash >> 8 & 0xf)}%)`;
	return `hsl(${(hash & 0xff) * 50 / 256 + 10} 85% ${62 + (hash >> 8 & 0xf)}%)`;
});

function colourOf(name) {
	if (search.text && search.names.has(name))
		return '#d6a2f5';
	return name < 0 ? '#c5cbd3' : colours[name];
}

function whereOf(name) {
	const [, module, line] = data.names[name];

	return [module, line].filter(Boolean).join(', ');
}

// --- The flame graph: the outermost callers above; a click makes a frame as wide as the page.

class Flame extends View {
	constructor() {
		super('flame');
		this.canvas.addEventListener('click', (event) => {
			const box = this.canvas.getBoundingClientRect();
			const node = this.at(event.clientX - box.left, event.clientY - box.top + this.top);

			if (node)
				this.zoom(node);
		});
		this.grow();
	}

	// Makes the tree, of all threads together or each by itself.
	grow() {
		this.root = calls ? treeOfCalls(calls, byId('apart').checked) : treeOfSamples();
		this.root.label = 'all';
		this.deepest = addUp(this.root);
		this.shown = this.root;
	}

	zoom(node) {
		this.shown = node;
		byId('zoomed').textContent = node === this.root ? '' :
			`${title(node)}: ${percent(node.total, this.root.total)} of all`;
		redraw();
	}

	draw() {
		this.begin((this.deepest + 1) * ROW);
		this.frames = [];
		for (let node = this.shown.parent; node; node = node.parent)
			this.add(node, 0, this.width, 0.5);
		this.drawBelow(this.shown, 0, this.width);
	}

	drawBelow(node, x, width) {
		// Without recursion, which deep chains would end.
		const work = [[node, x, width]];

		while (work.length) {
			const [next, left, wide] = work.pop();
			let at = left;

			this.add(next, left, wide, 1);
			if (next.depth * ROW > this.top + this.height)
				continue;
			for (const child of next.sorted) {
				const part = next.total ? wide * child.total / next.total : 0;

				if (part < 0.4)
					break;
				work.push([child, at, part]);
				at += part;
			}
		}
	}

	// The strip below the text is the part of the time that is the function's own.
	add(node, x, width, alpha) {
		const y = node.depth * ROW - this.top;

		if (y < -ROW || y > this.height)
			return;
		this.context.globalAlpha = alpha;
		this.frame(x, y, width, colourOf(node.name), title(node));
		this.context.fillStyle = '#a33c00';
		this.context.fillRect(x, y + ROW - 3, node.total ? width * node.own / node.total : 0, 2);
		this.context.globalAlpha = 1;
		this.frames.push([node, x, width]);
	}

	at(x, y) {
		const row = Math.floor(y / ROW);
		const hit = this.frames.find(([node, left, width]) =>
			node.depth === row && x >= left && x < left + width);

		return hit && hit[0];
	}

	describe(x, y) {
		const node = this.at(x, y), all = this.root.total;

		return node && [title(node), node.name >= 0 ? whereOf(node.name) : '',
			`total ${amount(node.total)}, ${percent(node.total, all)}`,
			`own ${amount(node.own)}, ${percent(node.own, all)}`,
			node.calls ? `${node.calls} calls` : ''].filter(Boolean);
	}
}

// --- The timeline: a group of rows for each thread, a row for each depth.

class Timeline extends View {
	constructor() {
		super('timeline');
		this.first = 0;
		this.last = Math.max(1, calls.end.reduce((a, b) => Math.max(a, b), 0),
			data.marks.reduce((a, mark) => Math.max(a, mark[1]), 0));
		this.from = this.first;
		this.to = this.last;
		this.layOut();
		this.canvas.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
		this.canvas.addEventListener('mousedown', (event) => this.onDrag(event));
		this.canvas.addEventListener('dblclick', (event) => {
			const call = this.at(event.offsetX, event.offsetY + this.top);

			if (call >= 0)
				this.show(call);
		});
		this.box.addEventListener('keydown', (event) => this.onKey(event));
	}

	// Where each thread's rows begin, and until when calls that it made may be lost.
	layOut() {
		let y = ROW;

		for (const thread of data.threads) {
			const all = thread.lanes.flat();
			const isCut = all.some((call) => calls.flags[call] & CUT);

			thread.y = y;
			y += LABEL + thread.lanes.length * ROW + 6;
			thread.lostTo = isCut ? all.reduce((least, call) =>
				calls.flags[call] & CUT ? least : Math.min(least, calls.start[call]), this.last) : 0;
			thread.marks = data.marks.filter((mark) => mark[0] === thread.tid);
		}
		this.all = y;
	}

	x(time) {
		return (time - this.from) / (this.to - this.from) * this.width;
	}

	range(from, to) {
		const least = Math.min(20, this.last), span = Math.max(to - from, least);

		this.from = Math.max(this.first, Math.min(from, this.last - span));
		this.to = Math.min(this.last, this.from + span);
		byId('range').textContent =
			`from ${(this.from / 1e9).toFixed(9)} s on, ${amount(this.to - this.from)}`;
		redraw();
	}

	zoom(factor, x = this.width / 2) {
		const time = this.from + (this.to - this.from) * x / this.width;

		this.range(time - (time - this.from) / factor, time + (this.to - time) / factor);
	}

	// Brings a call into the middle.
	show(call) {
		const took = calls.end[call] - calls.start[call];
		const thread = data.threads.find((one) => (one.lanes[calls.depth[call]] || []).includes(call));

		this.range(calls.start[call] - took, calls.end[call] + took);
		this.box.scrollTop = thread.y + calls.depth[call] * ROW - this.height / 2;
	}

	onWheel(event) {
		if (!event.ctrlKey && !event.shiftKey)
			return;
		event.preventDefault();
		this.zoom((event.deltaY || event.deltaX) < 0 ? 1.5 : 1 / 1.5, event.offsetX);
	}

	onDrag(event) {
		const start = event.clientX, from = this.from, to = this.to;
		const move = (moved) => {
			const by = (moved.clientX - start) / this.width * (to - from);

			this.range(from - by, to - by);
		};

		window.addEventListener('mousemove', move);
		window.addEventListener('mouseup', () =>
			window.removeEventListener('mousemove', move), { once: true });
	}

	onKey(event) {
		const step = (this.to - this.from) / 4;
		const keys = {
			'+': () => this.zoom(2), '-': () => this.zoom(0.5), '0': () => this.range(this.first, this.last),
			ArrowLeft: () => this.range(this.from - step, this.to - step),
			ArrowRight: () => this.range(this.from + step, this.to + step),
		};

		if (keys[event.key]) {
			event.preventDefault();
			keys[event.key]();
		}
	}

	draw() {
		this.begin(this.all);
		for (const thread of data.threads)
			this.drawThread(thread);
		this.drawScale();
	}

	drawThread(thread) {
		const top = thread.y - this.top, context = this.context;
		const height = LABEL + thread.lanes.length * ROW;

		if (top > this.height || top + height < 0)
			return;
		context.fillStyle = getComputedStyle(document.body).color;
		context.fillText(threadLabel(thread), 3, top + LABEL / 2);
		if (thread.lostTo > this.from)
			this.hatch(0, top + LABEL, this.x(thread.lostTo), height - LABEL);
		thread.lanes.forEach((lane, depth) => {
			const y = top + LABEL + depth * ROW;

			if (y > -ROW && y < this.height)
				this.drawLane(lane, y);
		});
		context.fillStyle = '#0a58ca';
		for (const mark of thread.marks)
			if (mark[1] >= this.from && mark[1] <= this.to)
				context.fillRect(this.x(mark[1]), top + 2, 2, height);
	}

	// Where older records were overwritten.
	hatch(x, y, width, height) {
		const context = this.context;

		context.save();
		context.beginPath();
		context.rect(x, y, width, height);
		context.clip();
		context.strokeStyle = '#d9480f66';
		for (let at = x - height; at < Math.min(x + width, this.width); at += 8) {
			context.moveTo(at, y + height);
			context.lineTo(at + height, y);
		}
		context.stroke();
		context.restore();
	}

	// The first call of a lane that ends behind that time.
	firstBehind(lane, time, low = 0) {
		let high = lane.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (calls.end[lane[middle]] <= time)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	// Of calls that share a pixel one is drawn, so that what is drawn is bounded by the width.
	drawLane(lane, y) {
		const pixel = (this.to - this.from) / this.width;

		for (let i = this.firstBehind(lane, this.from); i < lane.length; ) {
			const call = lane[i], start = calls.start[call], end = calls.end[call];

			if (start >= this.to)
				break;
			this.drawCall(call, y);
			i = end - start < pixel ? this.firstBehind(lane, Math.max(start, this.from) + pixel, i + 1)
				: i + 1;
		}
	}

	drawCall(call, y) {
		const x = this.x(calls.start[call]), width = this.x(calls.end[call]) - x;
		const flags = calls.flags[call], name = calls.name[call], context = this.context;
		const how = flags & OPEN ? ' (open)' : flags & LEFT ? ' (left)' : '';

		this.frame(x, y, width, colourOf(name), data.names[name][0] + how);
		if (flags & OPEN)
			this.hatch(Math.max(x + width - 60, x), y, Math.min(60, width), ROW - 1);
		context.fillStyle = '#c92a2a';
		if (flags & LEFT)
			context.fillRect(x + width - 2, y, 2, ROW - 1);
		if (flags & CUT)
			for (let dot = 0; dot < ROW; dot += 4)
				context.fillRect(Math.max(x, 0), y + dot, 2, 2);
	}

	drawScale() {
		const context = this.context, span = this.to - this.from;
		const rough = span / Math.max(this.width / 120, 1), power = 10 ** Math.floor(Math.log10(rough));
		const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
		const isDeep = span < this.to / 100, first = isDeep ? this.from : Math.ceil(this.from / step) * step;

		context.fillStyle = getComputedStyle(document.body).backgroundColor;
		context.fillRect(0, 0, this.width, ROW);
		context.fillStyle = getComputedStyle(document.body).color;
		for (let time = first; time <= this.to; time += step) {
			context.fillRect(this.x(time), 0, 1, ROW);
			context.fillText(isDeep ? `+${amount(time - this.from)}` : amount(time),
				this.x(time) + 3, ROW / 2);
		}
	}

	at(x, y) {
		const thread = data.threads.find((one) =>
			y >= one.y + LABEL && y < one.y + LABEL + one.lanes.length * ROW);
		const lane = thread && thread.lanes[Math.floor((y - thread.y - LABEL) / ROW)];
		const time = this.from + x / this.width * (this.to - this.from);
		const i = lane ? this.firstBehind(lane, time) : 0;

		return lane && i < lane.length && calls.start[lane[i]] <= time ? lane[i] : -1;
	}

	describe(x, y) {
		const call = this.at(x, y);

		if (call < 0)
			return null;
		const flags = calls.flags[call], name = calls.name[call];

		return [data.names[name][0], whereOf(name),
			`${amount(calls.end[call] - calls.start[call])} from ${amount(calls.start[call])} on`,
			flags & OPEN ? 'open: it had not returned when this was read' : '',
			flags & LEFT ? 'left by a longjmp, an exception or the end of its thread' : '',
			flags & CUT ? 'calls that it made may have been overwritten' : ''].filter(Boolean);
	}
}

// --- The table of functions.

const table = { key: 'own', rows: [], most: 500 };

// The sums of each function; the total counts a call within one of the same function once.
function fillTable() {
	const rows = data.names.map((name, i) => ({ i, name: name[0], calls: 0, total: 0, own: 0 }));
	const work = [[flame.root, new Set()]];

	while (work.length) {
		const [node, above] = work.pop();
		let inside = above;

		if (node.name >= 0) {
			rows[node.name].calls += node.calls;
			rows[node.name].own += node.own;
			if (!above.has(node.name)) {
				rows[node.name].total += node.total;
				inside = new Set(above).add(node.name);
			}
		}
		for (const child of node.sorted)
			work.push([child, inside]);
	}
	table.rows = rows.filter((row) => row.calls || row.total);
}

function showTable() {
	const body = byId('rows'), all = flame.root.total, key = table.key;
	const rows = table.rows.filter((row) => !search.text || search.names.has(row.i));

	rows.sort((a, b) => key === 'name' ? a.name.localeCompare(b.name) : b[key] - a[key]);
	body.replaceChildren();
	for (const row of rows.slice(0, table.most)) {
		const line = make('tr', '', body);

		make('td', row.calls || '', line);
		make('td', `${amount(row.total)} (${percent(row.total, all)})`, line);
		make('td', `${amount(row.own)} (${percent(row.own, all)})`, line);
		make('td', row.name, line).title = whereOf(row.i);
	}
	byId('more').textContent = rows.length > table.most ?
		`${rows.length - table.most} more: search for them` : '';
}

// --- All together.

let waiting = false;

// Draws before the next frame, once for all that has changed until then.
function redraw() {
	if (waiting)
		return;
	waiting = true;
	requestAnimationFrame(() => {
		const begun = performance.now();

		waiting = false;
		flame.draw();
		if (timeline)
			timeline.draw();
		document.body.dataset.drawn = (performance.now() - begun).toFixed(1);
	});
}

const calls = data.threads ? readCalls() : null;
const flame = new Flame();
const timeline = calls ? new Timeline() : null;

function begin() {
	const losses = [];

	if (data.overwritten)
		losses.push(`${data.overwritten} older records were overwritten`);
	if (data.unrecorded)
		losses.push(`${data.unrecorded} calls could not be recorded`);
	if (data.kernel_lost)
		losses.push(`${data.kernel_lost} notes of the kernel could not be kept`);
	document.title = `${data.command} (${data.pid})`;
	byId('title').textContent = `${data.command}, pid ${data.pid}`;
	byId('about').textContent = [`tracer ${data.tracer}`,
		calls ? `${calls.n - calls.kernel} calls in ${data.threads.length} threads` :
			amount(flame.root.total),
		calls && calls.kernel ? `${calls.kernel} events of the kernel` : ''].filter(Boolean).join(', ');
	byId('losses').textContent = losses.join('; ');
	byId('search').addEventListener('input', (event) => {
		find(event.target.value);
		showTable();
	});
	byId('search').addEventListener('keydown', (event) => {
		if (event.key !== 'Enter' || !search.hits.length)
			return;
		search.at = (search.at + 1) % search.hits.length;
		timeline.show(search.hits[search.at]);
	});
	byId('reset').addEventListener('click', () => flame.zoom(flame.root));
	byId('apart').addEventListener('change', () => {
		flame.grow();
		flame.zoom(flame.root);
	});
	if (timeline) {
		byId('in').addEventListener('click', () => timeline.zoom(2));
		byId('out').addEventListener('click', () => timeline.zoom(0.5));
		byId('whole').addEventListener('click', () => timeline.range(timeline.first, timeline.last));
		timeline.range(timeline.first, timeline.last);
	} else {
		document.querySelectorAll('.timed').forEach((element) => element.hidden = true);
	}
	document.querySelectorAll('th[data-key]').forEach((head) => head.addEventListener('click', () => {
		table.key = head.dataset.key;
		showTable();
	}));
	window.addEventListener('resize', redraw);
	fillTable();
	showTable();
	redraw();
}

begin();
