#include "ir/html_page.h"

namespace rondo::ir {

std::string_view html_style_and_body() {
  return R"html(<style>
:root {
  color-scheme: light dark;
  --back: #fff; --text: #1b1f24; --faint: #6a737d; --line: #d8dee4; --bar: #f4f6f8;
  --type: #0a6f4d; --op: #8250df; --mark: #fff2b3; --use: #dbeafe;
  --loop: #2f6feb; --branch: #b26a00; --call: #1a7f37; --region: #8250df;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #15191e; --text: #d6dde4; --faint: #848d97; --line: #333b44; --bar: #1d232a;
    --type: #6cc7a0; --op: #c8a6ff; --mark: #5c4a00; --use: #1d3a5f;
    --loop: #6ea8fe; --branch: #e0a04a; --call: #5cc47a; --region: #c8a6ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 14px system-ui, sans-serif; }
header { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .5em;
  align-items: center; padding: .5em 1em; background: var(--bar); border-bottom: 1px solid var(--line); }
h1 { font-size: 1.1em; margin: 0 .5em 0 0; }
button, input { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
  border-radius: 4px; padding: .15em .5em; }
button { cursor: pointer; }
#search { width: 16em; }
#count, #size { color: var(--faint); min-width: 4em; }
main { padding: .7em 1em 7em; font: var(--zoom, 13px)/1.5 ui-monospace, Menlo, Consolas, monospace; }
.op, summary { overflow-wrap: anywhere; border-radius: 3px; }
.op, .return { padding-left: 2.2em; text-indent: -1em; }
summary { cursor: pointer; padding-left: .2em; }
.op:hover, summary:hover { background: var(--bar); }
.name { color: var(--op); font-weight: 600; }
.type, .label + .type { color: var(--type); }
.attributes, .at, .return > .word { color: var(--faint); }
.at { margin-left: 1.5em; font-size: .9em; }
.value.lit { background: var(--use); border-radius: 3px; }
.found { outline: 2px solid var(--branch); background: var(--mark); }
details { margin: 2px 0; }
details.box { border: 1px solid var(--line); border-left: 3px solid var(--kind); border-radius: 4px; }
details.box > summary { background: color-mix(in srgb, var(--kind) 9%, transparent); }
details.box > details, details.region > .body { margin-left: var(--indent, .8em); }
details.region > summary { color: var(--faint); }
.label { color: var(--kind); font-weight: 600; }
.loop { --kind: var(--loop); } .branch { --kind: var(--branch); }
.call { --kind: var(--call); } .function { --kind: var(--region); }
.deep { --indent: 2px; }
.badge { color: var(--kind); border: 1px solid var(--kind); border-radius: 8px; padding: 0 .5em;
  margin-right: .5em; font-size: .85em; }
.alone { border: none; background: none; padding: 0 .4em; color: var(--faint); }
.chunk { min-height: 1.5em; }
#profile { margin: .7em 1em 0; border-collapse: collapse; font: 12px/1.5 ui-monospace, Menlo, Consolas, monospace; }
#profile th { text-align: left; color: var(--faint); font-weight: 400; }
#profile td, #profile th { padding: 0 1em 0 0; white-space: nowrap; }
#profile td.number { text-align: right; }
#profile tr[data-place] { cursor: pointer; }
#profile tr[data-place]:hover { background: var(--bar); }
#profile .rail { display: inline-block; width: 10em; height: .8em; background: var(--bar); }
#profile .rail > span { display: block; height: 100%; background: var(--loop); }
#profile .kernel .rail > span { background: var(--region); }
.share { color: var(--branch); margin-left: 1em; }
footer { position: fixed; bottom: 0; left: 0; right: 0; z-index: 2; padding: .4em 1em; max-height: 7em;
  overflow: auto; background: var(--bar); border-top: 1px solid var(--line); color: var(--faint);
  font: 12px/1.45 ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
footer b { color: var(--text); font-weight: 600; }
#path a { color: var(--loop); cursor: pointer; }
</style>
</head>
<body>
<header><h1 id="title"></h1><span id="size"></span>
<input id="search" type="search" placeholder="add, %12, f32[2], file.cc:7" aria-label="search">
<span id="count"></span><button id="previous" title="previous (Shift+Enter)">&#x2191;</button><button id="next" title="next (Enter)">&#x2193;</button>
<button id="open">open all</button><button id="close">close all</button>
<button id="smaller" title="smaller (-)">&#x2212;</button><button id="larger" title="larger (+)">+</button>
<span id="path"></span></header>
<table id="profile" hidden></table>
<main id="main"><noscript>This page needs JavaScript.</noscript></main>
<footer id="about">The mouse on an op shows its attributes, its source line, and where its values come from and go.</footer>
)html";
}

std::string_view html_script() {
  return R"js(
'use strict';
const program = JSON.parse(document.getElementById('program').textContent);
const functions = program.functions;
// A node is [op, number, types, operands, attributes, place, kind, name, [[function, label], ...]].
const OP = 0, NUMBER = 1, TYPES = 2, OPERANDS = 3, ATTRIBUTES = 4, PLACE = 5, KIND = 6, NAME = 7, REGIONS = 8;
const CHUNK = 200;          // rows that are made at once
const OPEN_AT_FIRST = 300;  // rows
const OPEN_AT_MOST = 5000;  // by one click
const DEEPEST = 60;         // boxes within one another; deeper ones are shown by themselves
const parents = functions.map(() => null);  // [function, node, label], of the first use
functions.forEach((fn, f) => fn.nodes.forEach((node, i) => {
  for (const [inner, label] of node[REGIONS] || []) parents[inner] ||= [f, i, label];
}));
// The profile's rows: [depth, kind, name, place, share, seconds, trips or calls, timed].
const profile = program.profile || {seconds: 0, rows: []};
const percent = share => (share * 100).toFixed(1) + ' %';
const shares = new Map();  // of loops, by name and place
for (const [, kind, name, place, share] of profile.rows) {
  const key = name + ' ' + place;
  if (kind === 'loop') shares.set(key, (shares.get(key) || 0) + share);
}
const byId = id => document.getElementById(id);

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}
// An operand is a text, or a node's number in its function; [node, result]; -1 - a parameter's.
function valueText(f, value) {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return valueText(f, value[0]) + '#' + value[1];
  return '%' + (value < 0 ? functions[f].params[-1 - value][0] : functions[f].nodes[value][NUMBER]);
}
function valueElement(f, value) {
  const element = make('span', 'value', valueText(f, value));
  if (typeof value !== 'string') element.dataset.v = Array.isArray(value) ? value[0] : value;
  return element;
}
function appendList(parent, items, before) {
  items.forEach((item, i) => parent.append(i ? ', ' : before, item));
}
const typesText = types => types.map(type => program.types[type]).join(', ');
const nodeText = (f, i) => {
  const node = functions[f].nodes[i];
  return '%' + node[NUMBER] + ': ' + typesText(node[TYPES]) + ' = ' + program.ops[node[OP]] + ' ' +
      node[OPERANDS].map(value => valueText(f, value)).join(', ') + ' ' + node[ATTRIBUTES];
};
function fillNode(row, f, i) {
  const node = functions[f].nodes[i], kind = node[KIND];
  if (kind) row.append(make('span', 'badge', node[NAME] ? kind + ' ' + node[NAME] : kind));
  row.append(valueElement(f, i), ': ', make('span', 'type', typesText(node[TYPES])), ' = ',
             make('span', 'name', program.ops[node[OP]]));
  appendList(row, node[OPERANDS].map(value => valueElement(f, value)), ' ');
  const attributes = node[ATTRIBUTES];
  row.append(make('span', 'attributes', ' ' + (attributes.length > 160 ? attributes.slice(0, 160) + '...' : attributes)));
  if (node[PLACE] >= 0) row.append(make('span', 'at', program.places[node[PLACE]]));
  const share = kind && shares.get((node[NAME] || 'while') + ' ' + program.places[node[PLACE]]);
  if (share) row.append(make('span', 'share', percent(share)));
  row.node = [f, i];
}
function makeNode(f, i, depth) {
  const node = functions[f].nodes[i];
  if (!node[REGIONS]) {
    const row = make('div', 'op');
    fillNode(row, f, i);
    return row;
  }
  const box = make('details', 'box ' + (node[KIND] || 'function') + (depth > 12 ? ' deep' : ''));
  const summary = make('summary');
  fillNode(summary, f, i);
  box.append(summary);
  box.fill = () => {
    box.fill = null;
    box.bodies = node[REGIONS].map(([inner, label]) => makeRegion(box, inner, label, depth + 1));
  };
  box.rows = node[REGIONS].reduce((sum, [inner]) => sum + functions[inner].nodes.length, 0);
  box.depth = depth;
  box.addEventListener('toggle', () => box.open && box.fill && box.fill());
  return box;
}
function openBox(box) {
  if (box.fill) box.fill();
  box.open = true;
}
function appendParameters(parent, f) {
  parent.append(' (');
  appendList(parent, functions[f].params.map(([, type], i) => {
    const both = make('span');
    both.append(valueElement(f, -1 - i), ': ', make('span', 'type', program.types[type]));
    return both;
  }), '');
  parent.append(')');
}
function makeRegion(box, f, label, depth) {
  const region = make('details', 'region'), summary = make('summary'), alone = make('button', 'alone', '\u2922');
  region.open = true;
  summary.append(make('span', 'label', label));
  appendParameters(summary, f);
  alone.title = 'show this alone';
  alone.onclick = event => { event.preventDefault(); show(f); };
  summary.append(alone);
  region.append(summary);
  box.append(region);
  return makeBody(region, f, depth, summary);
}
function makeBody(parent, f, depth, summary) {
  const fn = functions[f], body = make('div', 'body');
  body.f = f;
  body.summary = summary;
  body.rows = new Map();
  const chunks = [];
  const fill = n => {
    if (!chunks[n].empty) return;
    chunks[n].empty = false;
    chunks[n].style.minHeight = '';
    for (let i = n * CHUNK; i < Math.min((n + 1) * CHUNK, fn.nodes.length); i++) {
      const row = makeNode(f, i, depth);
      body.rows.set(i, row);
      chunks[n].append(row);
    }
  };
  for (let n = 0; n * CHUNK < fn.nodes.length; n++) {
    const chunk = make('div', 'chunk');
    chunk.empty = true;
    chunk.style.minHeight = 1.5 * Math.min(CHUNK, fn.nodes.length - n * CHUNK) + 'em';
    chunk.fill = () => fill(n);
    chunks.push(chunk);
    body.append(chunk);
    if (n === 0) fill(0); else seen.observe(chunk);
  }
  body.rowOf = i => { fill(Math.floor(i / CHUNK)); return body.rows.get(i); };
  const last = make('div', 'return');
  last.append(make('span', 'word', 'return'));
  appendList(last, fn.results.map(value => valueElement(f, value)), ' ');
  body.append(last);
  parent.append(body);
  return body;
}
const seen = new IntersectionObserver(entries => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    seen.unobserve(entry.target);
    entry.target.fill();
  }
}, {rootMargin: '1500px'});

let root = null;  // the body that is shown
function ancestors(f) {  // of a function, itself last: [function, node in it that leads on]
  const path = [[f, null]];
  for (let at = parents[f]; at; at = parents[at[0]]) path.unshift([at[0], at[1]]);
  return path;
}
function label(f) {
  const parent = parents[f];
  if (!parent) return functions[f].name;
  const node = functions[parent[0]].nodes[parent[1]];
  return (node[NAME] || program.ops[node[OP]]) + ' ' + parent[2];
}
function pathText(f) {
  const names = ancestors(f).map(([of]) => label(of));
  return (names.length > 8 ? [...names.slice(0, 3), '... ' + (names.length - 6) + ' more', ...names.slice(-3)] : names).join(' \u203a ');
}
function openSome(boxes, rows) {
  for (const queue = [...boxes]; queue.length;) {
    const box = queue.shift();
    if (box.rows > rows || box.depth - root.depth > DEEPEST) continue;
    rows -= box.rows + 1;
    openBox(box);
    for (const body of box.bodies)
      for (const row of body.rows.values()) if (row.matches('details')) queue.push(row);
  }
}
const boxesOf = body => [...body.rows.values()].filter(row => row.matches('details'));
function show(f) {
  const main = byId('main');
  main.textContent = '';
  const region = make('details', 'region'), summary = make('summary');
  region.open = true;
  summary.append(make('span', 'label', label(f)));
  appendParameters(summary, f);
  region.append(summary);
  main.append(region);
  root = makeBody(region, f, 0, summary);
  root.depth = 0;
  const path = byId('path');
  path.textContent = '';
  if (f !== 0) {
    const whole = make('a', '', functions[0].name);
    whole.onclick = () => show(0);
    path.append(whole, ' \u203a ' + pathText(f).split(' \u203a ').slice(1).join(' \u203a '));
  }
  openSome(boxesOf(root), OPEN_AT_FIRST - functions[f].nodes.length);
}
function goTo([f, i]) {
  let path = ancestors(f);
  path[path.length - 1][1] = i;
  let first = path.findIndex(([of]) => of === root.f);
  if (first < 0 || path.length - first > DEEPEST) {
    first = Math.max(0, path.length - DEEPEST);
    show(path[first][0]);
  }
  let body = root, row = null;
  path.slice(first).forEach(([, node], n, steps) => {
    row = body.rowOf(node);
    if (n + 1 === steps.length) return;
    openBox(row);
    body = row.bodies.find(inner => inner.f === steps[n + 1][0]);
    body.parentElement.open = true;
  });
  document.querySelectorAll('.found').forEach(element => element.classList.remove('found'));
  const line = row.matches('details') ? row.querySelector('summary') : row;
  line.classList.add('found');
  line.scrollIntoView({block: 'center'});
  about(row.matches('details') ? line : row);
}

let texts = null, matches = [], current = -1;
function search(query) {
  texts ||= functions.flatMap((fn, f) => fn.nodes.map((node, i) => [f, i,
      (nodeText(f, i) + ' ' + (node[NAME] || '') + ' ' + (program.places[node[PLACE]] || '')).toLowerCase()]));
  const wanted = query.trim().toLowerCase();
  matches = wanted ? texts.filter(([, , text]) => text.includes(wanted)) : [];
  current = -1;
  byId('count').textContent = wanted ? matches.length + ' found' : '';
  if (matches.length) step(1);
}
function step(by) {
  if (!matches.length) return;
  current = (current + by + matches.length) % matches.length;
  byId('count').textContent = current + 1 + ' of ' + matches.length;
  goTo(matches[current]);
}
let waiting = 0;
byId('search').oninput = event => {
  clearTimeout(waiting);
  waiting = setTimeout(() => search(event.target.value), 200);
};
byId('search').onkeydown = event => { if (event.key === 'Enter') step(event.shiftKey ? -1 : 1); };
byId('next').onclick = () => step(1);
byId('previous').onclick = () => step(-1);
byId('open').onclick = () => openSome(boxesOf(root), OPEN_AT_MOST);
byId('close').onclick = () => document.querySelectorAll('details.box[open]').forEach(box => { box.open = false; });

let zoom = 13;
function setZoom(size) {
  zoom = Math.min(40, Math.max(5, size));
  byId('main').style.setProperty('--zoom', zoom + 'px');
}
byId('larger').onclick = () => setZoom(zoom * 1.2);
byId('smaller').onclick = () => setZoom(zoom / 1.2);
document.onkeydown = event => {
  if (event.target.matches('input') || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '+' || event.key === '=') setZoom(zoom * 1.2);
  else if (event.key === '-') setZoom(zoom / 1.2);
  else if (event.key === '/') { byId('search').focus(); event.preventDefault(); }
};

function about(row) {
  const [f, i] = row.node, node = functions[f].nodes[i], footer = byId('about');
  footer.textContent = '';
  footer.append(make('b', '', nodeText(f, i).slice(0, 2000)), make('br'),
                (node[PLACE] >= 0 ? program.places[node[PLACE]] + '   ' : '') + 'in ' + pathText(f));
}
byId('main').onmouseover = event => {
  const row = event.target.closest('.op, summary'), value = event.target.closest('.value');
  if (row && row.node) about(row);
  document.querySelectorAll('.lit').forEach(element => element.classList.remove('lit'));
  if (!value || value.dataset.v === undefined) return;
  const bodyOf = element => {
    const summary = element.closest('summary');
    const region = summary && !summary.node ? summary.parentElement : null;
    return region ? region.querySelector('.body') : element.closest('.body');
  };
  const body = bodyOf(value);
  const same = body.parentElement.querySelectorAll('.value[data-v="' + value.dataset.v + '"]');
  same.forEach(element => { if (bodyOf(element) === body) element.classList.add('lit'); });
};
function timeText(seconds) {
  for (const [unit, name] of [[1, 's'], [1e-3, 'ms'], [1e-6, '\u00b5s']])
    if (seconds >= unit) return (seconds / unit).toPrecision(3) + ' ' + name;
  return (seconds * 1e9).toPrecision(3) + ' ns';
}
function showProfile() {
  const table = byId('profile');
  if (!program.profile) return;
  table.hidden = false;
  const head = make('tr');
  for (const text of ['a run of ' + timeText(profile.seconds), '', '', 'trips, calls', 'each', '']) head.append(make('th', '', text));
  table.append(head);
  for (const [depth, kind, name, place, share, seconds, count, timed] of profile.rows) {
    const row = make('tr', kind), bar = make('span'), rail = make('span', 'rail'), what = make('td');
    bar.style.width = (share * 100).toFixed(2) + '%';
    rail.append(bar);
    const cell = make('td');
    cell.append(rail);
    what.style.paddingLeft = depth + 'em';
    what.append((kind === 'kernel' ? 'kernel ' : '') + name, make('span', 'at', timed ? place : place + ', vectorized with the one above'));
    row.append(cell, make('td', 'number', timed ? percent(share) : ''), make('td', 'number', timed ? timeText(seconds) : ''),
               make('td', 'number', count.toLocaleString('en')), make('td', 'number', timed && count ? timeText(seconds / count) : ''), what);
    if (place) {
      row.dataset.place = place;
      row.onclick = () => { byId('search').value = place; search(place); };
    }
    table.append(row);
  }
}
byId('title').textContent = program.title;
showProfile();
const nodes = functions.reduce((sum, fn) => sum + fn.nodes.length, 0);
byId('size').textContent = nodes + (nodes === 1 ? ' op' : ' ops');
show(0);
document.body.dataset.ready = 'true';
)js";
}

}  // namespace rondo::ir
