import { EaselError, easel } from '/sdk.mjs';

const SHOWN_MAX = 100;
const STATES = { connecting: 'connecting …', live: 'live', polling: 'up to date every few seconds', refused: 'not readable', idle: '' };

const form = document.getElementById('form');
const note = document.getElementById('note');
const progress = document.getElementById('progress');
const list = document.getElementById('entries');
const entries = easel.table('entries');

/** True while the note is about the connection, so that it is cleared when the connection is back. */
let isPassing = false;
/** True if the server did not answer or was not ready. */
const ofConnection = (error) => error.status === 0 || error.status >= 500;

function say(text, passes = false) {
  note.textContent = text;
  isPassing = passes;
}

// Anybody may have written the rows: values are inserted as text, never as HTML, and can have any type and length.
function textOf(value, charsMax) {
  return typeof value === 'string' ? value.slice(0, charsMax) : '';
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function entryOf(row) {
  const signedAt = new Date(row.createdAt);
  const time = element('time', { dateTime: row.createdAt }, signedAt.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }));
  const item = element('li', {}, element('p', { className: 'who' }, element('b', {}, textOf(row.name, 60)), ' ', time));
  item.dataset.id = row.id;
  item.dataset.createdAt = row.createdAt;
  if (typeof row.picture === 'string' && row.picture !== '') {
    item.append(element('img', { src: easel.blobs.url(row.picture), alt: `A picture from ${textOf(row.name, 60)}`, loading: 'lazy' }));
  }
  item.append(element('p', { className: 'message' }, textOf(row.message, 500)));
  return item;
}

function itemOf(id) {
  return [...list.children].find((item) => item.dataset.id === id);
}

function show(change) {
  switch (change.type) {
    case 'rows':
      list.replaceChildren(...change.rows.map(entryOf));
      break;
    case 'put': {
      const item = entryOf(change.row);
      const before = itemOf(change.id);
      if (before) before.replaceWith(item);
      else list.insertBefore(item, [...list.children].find((other) => other.dataset.createdAt <= change.row.createdAt) ?? null);
      if (list.children.length > SHOWN_MAX) list.lastElementChild.remove();
      break;
    }
    case 'delete':
      itemOf(change.id)?.remove();
  }
  document.getElementById('empty').hidden = list.children.length > 0;
}

async function sendPicture(file) {
  if (!file || file.size === 0) return undefined;
  progress.hidden = false;
  const blob = await easel.blobs.upload(file, {
    onProgress: ({ sentBytes, totalBytes }) => {
      progress.value = sentBytes / totalBytes;
    },
  });
  return blob.id;
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const fields = new FormData(form);
  // What is typed while this is sent would be lost when the form is emptied.
  const inputs = document.getElementById('fields');
  const focused = document.activeElement;
  inputs.disabled = true;
  say('');
  try {
    const picture = await sendPicture(fields.get('picture'));
    await entries.insert({ name: fields.get('name').trim(), message: fields.get('message').trim(), ...(picture && { picture }) });
    form.reset();
    say('Thank you.');
  } catch (error) {
    if (!(error instanceof EaselError)) throw error;
    const text = error.code === 'UNAUTHORIZED' ? 'Visitors cannot sign here until the owner allows it.' : error.message;
    say(text, ofConnection(error));
  } finally {
    inputs.disabled = false;
    if (document.activeElement === document.body) focused.focus();
    progress.hidden = true;
    progress.value = 0;
  }
});

easel.on('retry', ({ waitMs }) => {
  say(`Busy. Trying again in ${Math.ceil(waitMs / 1000)} s …`, true);
});
easel.on('state', (state) => {
  const shown = document.getElementById('state');
  shown.dataset.state = state;
  shown.textContent = STATES[state];
  if (isPassing && (state === 'live' || state === 'polling')) say('');
});
entries.watch(show, { sort: '-createdAt', limit: SHOWN_MAX });
