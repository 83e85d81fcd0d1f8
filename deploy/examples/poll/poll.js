import { EaselError, easel } from '/sdk.mjs';

const STATES = { connecting: 'connecting …', live: 'live', polling: 'every few seconds', refused: 'not readable', idle: '' };
/** This browser's own vote. Whoever wants to cheat can: a poll that must not be cheated needs people to sign in. */
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

/** What was told last. Only the watch tells: the answer to an own vote may be older than what came meanwhile. */
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
    `${total} ${total === 1 ? 'vote' : 'votes'} so far. ${own ? `Yours went to ${own}.` : 'Yours is not among them yet.'}`;
}

async function vote(option) {
  localStorage.setItem(MINE, option);
  note.textContent = '';
  show();
  try {
    // The server adds: however many vote in the same moment, every vote counts once.
    await easel.json.increment('votes', 1, { path: `$.${option}` });
  } catch (error) {
    if (!(error instanceof EaselError)) throw error;
    localStorage.removeItem(MINE);
    note.textContent = error.code === 'UNAUTHORIZED' ? 'Visitors may not vote here yet: its owner has to allow it.' : error.message;
    show();
  }
}

for (const button of buttons) button.addEventListener('click', () => vote(button.dataset.option));
easel.on('state', (state) => {
  const shown = document.getElementById('state');
  shown.dataset.state = state;
  shown.textContent = STATES[state];
});
easel.json.watch('votes', (value) => {
  votes = typeof value === 'object' && value !== null ? value : {};
  show();
});
