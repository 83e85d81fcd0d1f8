import { Compartment, EditorState } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import { basicSetup, EditorView } from 'codemirror';
import { yCollab, yUndoManagerKeymap } from 'y-codemirror.next';
import * as Y from 'yjs';
import { easel } from '/sdk.mjs';

const STATES = { connecting: 'connecting …', offline: 'offline: you can go on writing', refused: 'not readable', idle: '', live: '' };
const NAME = 'name';
/** Dark enough for white text on them. */
const COLORS = ['#b3261e', '#9a5b00', '#1b7a43', '#0b7285', '#2a5bd0', '#7a3fd1', '#b0307a'];
let color = COLORS[Math.floor(Math.random() * COLORS.length)];

const note = document.getElementById('note');
const shown = document.getElementById('state');
const field = document.getElementById('name');

const shared = await easel.doc('notes', { Y });
const { awareness } = shared;
const text = shared.doc.getText('text');

const mayWrite = new Compartment();
const view = new EditorView({
  parent: document.getElementById('text'),
  doc: text.toString(),
  extensions: [
    // Undoes only changes of this window. Its keys come before those of the editor's own history, which would undo changes of others too.
    keymap.of(yUndoManagerKeymap),
    yCollab(text, awareness, { undoManager: new Y.UndoManager(text) }),
    basicSetup,
    mayWrite.of([]),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': 'The text' }),
  ],
});

/** The name of an anonymous visitor; for a signed-in one the server uses the account's name. */
function sayName() {
  const name = field.value.trim().slice(0, 40);
  localStorage.setItem(NAME, name);
  awareness.setLocalStateField('user', { name: name || 'Somebody', color, colorLight: `${color}33` });
}

/** A colour that nobody else has, if there is one left. */
function pickColor() {
  const others = [...awareness.getStates()].filter(([id]) => id !== awareness.clientID);
  const taken = new Set(others.map(([, { user }]) => user?.color));
  if (taken.has(color)) color = COLORS.find((each) => !taken.has(each)) ?? color;
  sayName();
}

function showPeople() {
  const items = [...awareness.getStates()].slice(0, 12).map(([id, { user }]) => {
    const name = user?.name ?? 'Somebody';
    const item = document.createElement('li');
    item.style.setProperty('--color', user?.color ?? '#777777');
    item.textContent = [...name][0].toUpperCase();
    item.title = id === awareness.clientID ? `${name} (you)` : name;
    item.setAttribute('aria-label', item.title);
    return item;
  });
  document.getElementById('people').replaceChildren(...items);
}

function showState() {
  const { state, readOnly, hasUnsaved } = shared;
  shown.dataset.state = state === 'live' && hasUnsaved ? 'saving' : state;
  if (state !== 'live') shown.textContent = STATES[state];
  else shown.textContent = readOnly ? 'you may look on' : hasUnsaved ? 'saving …' : 'saved';
}

function allowWriting() {
  const isClosed = shared.readOnly || shared.state === 'refused';
  view.dispatch({ effects: mayWrite.reconfigure(EditorState.readOnly.of(isClosed)) });
}

function showCount() {
  const words = text.toString().match(/\S+/g)?.length ?? 0;
  document.getElementById('count').textContent = `${words} ${words === 1 ? 'word' : 'words'}`;
}

field.value = localStorage.getItem(NAME) ?? '';
field.addEventListener('change', sayName);
awareness.on('change', showPeople);
for (const event of ['state', 'readOnly']) shared.on(event, allowWriting);
text.observe(showCount);
for (const event of ['state', 'unsaved', 'readOnly']) shared.on(event, showState);
shared.on('state', (state) => {
  // The earlier problem is over.
  if (state === 'live') note.textContent = '';
});
shared.on('error', ({ code, message }) => {
  note.textContent = code === 'UNAUTHORIZED' ? 'Visitors cannot edit here until the owner allows it.' : message;
});
sayName();
// The `error` event shows the reason.
shared.synced.then(pickColor, () => undefined);
showPeople();
showState();
allowWriting();
showCount();
view.focus();
