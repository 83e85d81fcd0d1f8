import { easel } from '/sdk.mjs';
import * as Y from '/sdk-yjs.mjs';

const COLORS = { ink: 'Ink', red: 'Red', amber: 'Amber', green: 'Green', blue: 'Blue', violet: 'Violet' };
const STATES = { connecting: 'connecting …', offline: 'offline: your strokes are sent later', refused: 'not readable', live: '', idle: '' };
const SVG = 'http://www.w3.org/2000/svg';
/** Minimum time between two pointer positions sent to others, in ms. */
const HAND_EVERY_MS = 50;
/** Points nearer to the previous one than this, in units of the board, are dropped. */
const STEP = 2;

const board = document.getElementById('board');
const drawn = document.getElementById('strokes');
const hands = document.getElementById('hands');
const note = document.getElementById('note');
const eraser = document.getElementById('erase');

const shared = await easel.doc('board', { Y });
/** Each stroke is a Y.Map of `color`, `width` and `points`, a Y.Array of x, y, x, y … in units of the board. */
const strokes = shared.doc.getArray('strokes');
// Undoes only strokes of this window.
const history = new Y.UndoManager(strokes, { captureTimeout: 0, trackedOrigins: new Set(['hand']) });
const byHand = (run) => shared.doc.transact(run, 'hand');

let color = 'ink';
let drawing;
/** The SVG path of each stroke. */
const paths = new Map();

function pathOf(points) {
  if (points.length === 2) return `M${points[0]} ${points[1]}h0.01`;
  let text = '';
  for (let at = 0; at + 1 < points.length; at += 2) text += `${at === 0 ? 'M' : 'L'}${points[at]} ${points[at + 1]}`;
  return text;
}

function show() {
  const there = new Set(strokes);
  for (const [stroke, path] of paths) {
    if (there.has(stroke)) continue;
    path.remove();
    paths.delete(stroke);
  }
  // Simultaneous strokes have the same order in every window, independent of their arrival.
  let next = drawn.firstChild;
  for (const stroke of there) {
    const path = paths.get(stroke) ?? newPath(stroke);
    if (path === next) next = next.nextSibling;
    else drawn.insertBefore(path, next);
  }
  board.setAttribute('aria-label', `The board: ${strokes.length} ${strokes.length === 1 ? 'stroke' : 'strokes'}`);
}

function newPath(stroke) {
  const path = document.createElementNS(SVG, 'path');
  path.dataset.color = stroke.get('color');
  path.setAttribute('stroke-width', String(stroke.get('width')));
  paths.set(stroke, path);
  showPoints(stroke);
  return path;
}

function showPoints(stroke) {
  paths.get(stroke)?.setAttribute('d', pathOf(stroke.get('points').toArray()));
}

strokes.observeDeep((events) => {
  show();
  for (const { target } of events) if (target.parent instanceof Y.Map) showPoints(target.parent);
});

/** The position of a pointer in units of the board. */
function at({ clientX, clientY }) {
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(board.getScreenCTM().inverse());
  return [Math.round(x * 10) / 10, Math.round(y * 10) / 10];
}

function begin(event) {
  if (event.button !== 0 || shared.readOnly || shared.state === 'refused') return;
  board.setPointerCapture(event.pointerId);
  if (isErasing()) {
    eraseAt(event);
    return;
  }
  const points = Y.Array.from(at(event));
  const stroke = new Y.Map([
    ['color', color],
    ['width', Number(document.getElementById('width').value)],
    ['points', points],
  ]);
  // Later points of the stroke join the same undo step.
  byHand(() => strokes.push([stroke]));
  drawing = { points, last: at(event), pointerId: event.pointerId };
}

function go(event) {
  sayHand(at(event));
  if (isErasing() && event.buttons === 1) eraseAt(event);
  if (drawing === undefined || event.pointerId !== drawing.pointerId) return;
  const more = [];
  // All positions of the pen since the last frame.
  for (const each of event.getCoalescedEvents?.() ?? [event]) {
    const [x, y] = at(each);
    if (Math.hypot(x - drawing.last[0], y - drawing.last[1]) < STEP) continue;
    drawing.last = [x, y];
    more.push(x, y);
  }
  if (more.length > 0) shared.doc.transact(() => drawing.points.push(more), 'points');
}

function end(event) {
  if (drawing?.pointerId === event.pointerId) drawing = undefined;
}

function isErasing() {
  return eraser.getAttribute('aria-pressed') === 'true';
}

function eraseAt({ clientX, clientY }) {
  const hit = document.elementsFromPoint(clientX, clientY).find((element) => element.parentNode === drawn);
  const index = [...strokes].findIndex((stroke) => paths.get(stroke) === hit);
  if (hit !== undefined && index !== -1) byHand(() => strokes.delete(index));
}

let hand;
let isHandTold = true;
function sayHand(where) {
  hand = where;
  if (!isHandTold) return;
  isHandTold = false;
  setTimeout(() => {
    isHandTold = true;
    easel.presence.set(hand === null ? null : { x: hand[0], y: hand[1] });
  }, HAND_EVERY_MS);
}

function showPeople(people) {
  const items = people.slice(0, 8).map(({ name, color: own, isMe }) => {
    const item = document.createElement('li');
    item.style.setProperty('--color', own);
    item.textContent = [...name][0].toUpperCase();
    item.title = isMe ? `${name} (you)` : name;
    item.setAttribute('aria-label', item.title);
    return item;
  });
  document.getElementById('people').replaceChildren(...items);
  hands.replaceChildren(...people.filter(({ isMe, state }) => !isMe && Number.isFinite(state?.x) && Number.isFinite(state?.y)).map(handOf));
}

function handOf({ name, color: own, state }) {
  const group = document.createElementNS(SVG, 'g');
  group.setAttribute('transform', `translate(${state.x} ${state.y})`);
  group.style.setProperty('--color', own);
  const arrow = document.createElementNS(SVG, 'path');
  arrow.setAttribute('d', 'M0 0L7 20L11 12L20 9Z');
  const label = document.createElementNS(SVG, 'text');
  label.setAttribute('x', '16');
  label.setAttribute('y', '32');
  label.textContent = name.slice(0, 24);
  group.append(arrow, label);
  return group;
}

function showState() {
  const shown = document.getElementById('state');
  shown.dataset.state = shared.state;
  if (shared.state !== 'live') shown.textContent = STATES[shared.state];
  else shown.textContent = shared.readOnly ? 'you may look on' : shared.hasUnsaved ? 'saving …' : 'saved';
}

function pressEraser(isPressed) {
  eraser.setAttribute('aria-pressed', String(isPressed));
  board.classList.toggle('erasing', isPressed);
}

for (const [name, label] of Object.entries(COLORS)) {
  const field = document.createElement('input');
  field.type = 'radio';
  field.name = 'color';
  field.value = name;
  field.checked = name === color;
  field.dataset.color = name;
  field.title = label;
  field.setAttribute('aria-label', label);
  field.addEventListener('change', () => {
    color = name;
    pressEraser(false);
  });
  document.getElementById('colors').append(field);
}
eraser.addEventListener('click', () => pressEraser(!isErasing()));
document.getElementById('undo').addEventListener('click', () => history.undo());
document.getElementById('redo').addEventListener('click', () => history.redo());
addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() === 'e' && !event.ctrlKey && !event.metaKey) pressEraser(!isErasing());
  if (event.key.toLowerCase() !== 'z' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  if (event.shiftKey) history.redo();
  else history.undo();
});
board.addEventListener('pointerdown', begin);
board.addEventListener('pointermove', go);
board.addEventListener('pointerup', end);
board.addEventListener('pointercancel', end);
board.addEventListener('pointerleave', () => sayHand(null));

for (const event of ['state', 'unsaved', 'readOnly']) shared.on(event, showState);
shared.on('state', (state) => {
  // The earlier problem is over.
  if (state === 'live') note.textContent = '';
});
shared.on('error', ({ code, message }) => {
  note.textContent = code === 'UNAUTHORIZED' ? 'Visitors cannot draw here until the owner allows it.' : message;
});
easel.presence.on('change', showPeople);
show();
showState();
