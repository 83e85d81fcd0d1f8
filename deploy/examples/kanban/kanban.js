import { EaselError, easel } from '/sdk.mjs';

const STATES = { connecting: 'connecting …', live: 'live', polling: 'every few seconds', refused: 'not readable', idle: '' };
/** Gap between the positions of cards. When no number is left between two cards, the column is renumbered. */
const GAP = 1024;

const table = easel.table('cards');
const note = document.getElementById('note');
const columns = [...document.querySelectorAll('[data-column]')].map((section) => {
  const list = document.createElement('ol');
  const heading = section.querySelector('h2');
  const name = heading.textContent;
  list.setAttribute('aria-label', name);
  section.append(list, newCardForm(section.dataset.column, name));
  acceptDrops(section);
  return { id: section.dataset.column, name, heading, list };
});

/** Cards by id: the last known state plus changes of this window that are not confirmed yet. */
const cards = new Map();
let dragged;
/** The card that is being edited and its position. It stays there until the edit ends, even if others move it. */
let edited;

function cardsOf(column) {
  const shown = [...cards.values()].map((card) => (card.id === edited?.id ? { ...card, ...edited } : card));
  return shown.filter((card) => card.column === column).sort((a, b) => a.place - b.place || (a.id < b.id ? -1 : 1));
}

function show() {
  const focused = document.activeElement?.closest('[data-card]')?.dataset.card;
  if (!cards.has(edited?.id)) edited = undefined;
  for (const column of columns) showColumn(column);
  // Moving an element loses the focus.
  const item = focused && document.querySelector(`[data-card="${focused}"]`);
  if (item && !item.contains(document.activeElement)) item.focus({ preventScroll: true });
}

function showColumn({ id, list, heading }) {
  const wanted = cardsOf(id);
  const ids = new Set(wanted.map((card) => card.id));
  for (const item of [...list.children]) if (!ids.has(item.dataset.card)) item.remove();
  const there = new Map([...list.children].map((item) => [item.dataset.card, item]));
  for (const [index, card] of wanted.entries()) {
    const item = there.get(card.id) ?? newItem(card);
    // Moving it would end the edit.
    while (card.id === edited?.id && list.children[index] !== item) list.append(list.children[index]);
    const text = item.querySelector('.text');
    if (document.activeElement !== text && text.textContent !== card.text) text.textContent = card.text;
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
  }
  heading.dataset.count = String(wanted.length);
}

function newItem(card) {
  const item = document.createElement('li');
  item.dataset.card = card.id;
  item.tabIndex = 0;
  item.draggable = true;
  const text = document.createElement('span');
  text.className = 'text';
  // For touch screens without drag and drop.
  const onward = newButton('→', 'Move to the next column', () => moveOnward(item.dataset.card));
  onward.className = 'onward';
  item.append(
    text,
    onward,
    newButton('×', 'Delete this card', () => removeCard(item.dataset.card)),
  );
  item.addEventListener('dragstart', (event) => {
    dragged = item.dataset.card;
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', card.text);
    item.classList.add('dragged');
  });
  item.addEventListener('dragend', () => item.classList.remove('dragged'));
  item.addEventListener('dblclick', () => edit(item));
  item.addEventListener('keydown', (event) => onKey(event, item));
  return item;
}

function newButton(sign, label, press) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = sign;
  button.title = label;
  button.setAttribute('aria-label', label);
  button.addEventListener('click', press);
  return button;
}

/** From the last column to the first. */
function moveOnward(id) {
  const at = columns.findIndex((each) => each.id === cards.get(id).column);
  const next = columns[(at + 1) % columns.length];
  move(id, next.id, cardsOf(next.id).length);
}

function onKey(event, item) {
  if (event.target !== item) return;
  if (event.altKey && event.key.startsWith('Arrow')) step(item.dataset.card, event.key);
  else if (event.key === 'Enter') edit(item);
  else if (event.key === 'Delete') removeCard(item.dataset.card);
  else return;
  event.preventDefault();
}

/** One step up, down or to a neighbouring column. */
function step(id, key) {
  const card = cards.get(id);
  const column = columns.findIndex((each) => each.id === card.column);
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const next = columns[column + (key === 'ArrowRight' ? 1 : -1)];
    if (next !== undefined) move(id, next.id, cardsOf(next.id).length);
    return;
  }
  const index = cardsOf(card.column).findIndex((each) => each.id === id);
  move(id, card.column, Math.max(0, index + (key === 'ArrowDown' ? 1 : -1)));
}

/** Moves a card to position `index` among the other cards of a column. */
async function move(id, column, index) {
  const others = cardsOf(column).filter((card) => card.id !== id);
  const before = others[index - 1]?.place ?? (others[index]?.place ?? GAP * 2) - GAP * 2;
  const after = others[index]?.place ?? before + GAP * 2;
  const place = (before + after) / 2;
  if (place === before || place === after) {
    await renumber(column, others.toSpliced(index, 0, cards.get(id)));
    return;
  }
  await change(id, { column, place });
  const name = columns.find((each) => each.id === column).name;
  document.getElementById('said').textContent = `Moved to ${name}, place ${Math.min(index, others.length) + 1} of ${others.length + 1}.`;
}

async function renumber(column, ordered) {
  for (const [index, { id }] of ordered.entries()) await change(id, { column, place: (index + 1) * GAP });
}

/** Shows the change immediately; the server's state replaces it. */
async function change(id, changes) {
  const before = cards.get(id);
  cards.set(id, { ...before, ...changes });
  show();
  await attempt(
    () => table.update(id, changes),
    () => cards.set(id, before),
  );
}

async function removeCard(id) {
  const before = cards.get(id);
  cards.delete(id);
  show();
  await attempt(
    () => table.delete(id),
    () => cards.set(id, before),
  );
}

/** True while the note is about the connection, so that it is cleared when the connection is back. */
let isPassing = false;
/** True if the server did not answer or was not ready. */
const ofConnection = (error) => error.status === 0 || error.status >= 500;

function say(text, passes = false) {
  note.textContent = text;
  isPassing = passes;
}

async function attempt(write, takeBack) {
  say('');
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof EaselError)) throw error;
    // Somebody else has changed or deleted it; the watch delivers that.
    if (error.code === 'ROW_NOT_FOUND') return undefined;
    takeBack();
    show();
    const text = error.code === 'UNAUTHORIZED' ? 'Visitors cannot change the board until the owner allows it.' : error.message;
    say(text, ofConnection(error));
    return undefined;
  }
}

function edit(item) {
  const text = item.querySelector('.text');
  const card = cards.get(item.dataset.card);
  if (card === undefined || edited !== undefined) return;
  const { id, text: before } = card;
  edited = { id, column: card.column, place: card.place };
  text.contentEditable = 'plaintext-only';
  // For browsers without contenteditable="plaintext-only".
  if (text.contentEditable !== 'plaintext-only') text.contentEditable = 'true';
  text.setAttribute('role', 'textbox');
  text.setAttribute('aria-label', 'Text of the card');
  item.draggable = false;
  text.focus();
  getSelection().selectAllChildren(text);
  const finish = (keeps) => {
    edited = undefined;
    text.removeEventListener('blur', onBlur);
    text.removeEventListener('keydown', onTextKey);
    text.contentEditable = 'false';
    text.removeAttribute('role');
    text.removeAttribute('aria-label');
    item.draggable = true;
    const after = text.textContent.trim().slice(0, 500);
    // Somebody else may have deleted it.
    if (keeps && after !== '' && after !== before && cards.has(id)) change(id, { text: after });
    else text.textContent = cards.get(id)?.text ?? before;
    show();
  };
  const onBlur = () => finish(true);
  const onTextKey = (event) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    finish(event.key === 'Enter');
    item.focus();
  };
  text.addEventListener('blur', onBlur);
  text.addEventListener('keydown', onTextKey);
}

function newCardForm(column, name) {
  const form = document.createElement('form');
  const field = document.createElement('input');
  field.name = 'text';
  field.maxLength = 500;
  field.required = true;
  field.autocomplete = 'off';
  field.placeholder = 'Add a card';
  field.setAttribute('aria-label', `Add a card to ${name}`);
  form.append(field);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (text === '') return;
    field.value = '';
    const place = (cardsOf(column).at(-1)?.place ?? 0) + GAP;
    await attempt(
      () => table.insert({ column, text, place }),
      () => {
        field.value = text;
      },
    );
  });
  return form;
}

function acceptDrops(section) {
  section.addEventListener('dragover', (event) => {
    if (dragged === undefined) return;
    event.preventDefault();
    section.classList.add('over');
  });
  section.addEventListener('dragleave', (event) => {
    if (!section.contains(event.relatedTarget)) section.classList.remove('over');
  });
  section.addEventListener('drop', (event) => {
    event.preventDefault();
    section.classList.remove('over');
    if (dragged === undefined) return;
    const items = [...section.querySelectorAll('[data-card]')].filter((item) => item.dataset.card !== dragged);
    const below = items.findIndex((item) => {
      const { top, height } = item.getBoundingClientRect();
      return event.clientY < top + height / 2;
    });
    move(dragged, section.dataset.column, below === -1 ? items.length : below);
    dragged = undefined;
  });
}

easel.on('state', (state) => {
  const shown = document.getElementById('state');
  shown.dataset.state = state;
  shown.textContent = STATES[state];
  if (isPassing && (state === 'live' || state === 'polling')) say('');
});
table.watch(
  (change) => {
    if (change.type === 'rows') cards.clear();
    for (const row of change.type === 'rows' ? change.rows : change.type === 'put' ? [change.row] : []) cards.set(row.id, row);
    if (change.type === 'delete') cards.delete(change.id);
    show();
  },
  { limit: 1000 },
);
easel.presence.on('change', (people) => {
  const shown = people.slice(0, 8).map(({ name, color, isMe }) => {
    const item = document.createElement('li');
    item.style.setProperty('--color', color);
    item.textContent = [...name][0].toUpperCase();
    item.title = isMe ? `${name} (you)` : name;
    item.setAttribute('aria-label', item.title);
    return item;
  });
  document.getElementById('people').replaceChildren(...shown);
});
