import { EaselError, easel } from '/sdk.mjs';

const STATES = { connecting: 'connecting …', live: 'live', polling: 'every few seconds', refused: 'not readable', idle: '' };
/** This browser's own vote. Anybody can vote twice with another browser; a poll that must prevent this needs sign-in. */
const MINE = 'voted';

const buttons = [...document.querySelectorAll('#options button')];
const note = document.getElementById('note');
for (const button of buttons) {
  const label = document.createElement('span');
  label.className = 'label';
  label.append(...button.childNodes);
  const result = document.createElement('span');
  result.className = 'result';
  button.append(label, result);
}

/** The last counts of the watch. The answer to an own vote is not used, because it can be older than a change received since. */
let votes = {};

function show() {
  const countOf = (button) => (Number.isFinite(votes[button.dataset.option]) ? Math.max(0, votes[button.dataset.option]) : 0);
  const total = buttons.reduce((sum, button) => sum + countOf(button), 0);
  const mine = localStorage.getItem(MINE);
  for (const button of buttons) {
    const count = countOf(button);
    const share = total === 0 ? 0 : count / total;
    button.style.setProperty('--share', String(share));
    button.querySelector('.result').textContent = `${count} ${count === 1 ? 'vote' : 'votes'}, ${Math.round(share * 100)} %`;
    button.disabled = mine !== null;
    button.setAttribute('aria-pressed', String(mine === button.dataset.option));
  }
  const own = buttons.find((button) => button.dataset.option === mine)?.querySelector('.label').textContent;
  document.getElementById('total').textContent =
    `${total} ${total === 1 ? 'vote' : 'votes'} so far. ${own ? `You voted for ${own}.` : 'You have not voted yet.'}`;
}

/** True while the note is about the connection, so that it is cleared when the connection is back. */
let isPassing = false;
/** True if the server did not answer or was not ready. */
const ofConnection = (error) => error.status === 0 || error.status >= 500;

function say(text, passes = false) {
  note.textContent = text;
  isPassing = passes;
}

async function vote(option) {
  localStorage.setItem(MINE, option);
  say('');
  show();
  try {
    // The server increments atomically, so simultaneous votes all count.
    await easel.json.increment('votes', 1, { path: `$.${option}` });
  } catch (error) {
    if (!(error instanceof EaselError)) throw error;
    localStorage.removeItem(MINE);
    const text = error.code === 'UNAUTHORIZED' ? 'Visitors cannot vote here until the owner allows it.' : error.message;
    say(text, ofConnection(error));
    show();
  }
}

for (const button of buttons) button.addEventListener('click', () => vote(button.dataset.option));
easel.on('state', (state) => {
  const shown = document.getElementById('state');
  shown.dataset.state = state;
  shown.textContent = STATES[state];
  if (isPassing && (state === 'live' || state === 'polling')) say('');
});
easel.json.watch('votes', (value) => {
  votes = typeof value === 'object' && value !== null ? value : {};
  show();
});
