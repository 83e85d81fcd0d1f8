/** The banner of the installation on our own pages, which a script puts there: they are the same bytes with and without one. */

/** On the tokens of `tokens.ts`. */
export const BANNER_STYLE = `.site-banner { display: flex; align-items: flex-start; justify-content: center; gap: 0.75rem; padding: 0.6rem 1.25rem; font: 0.9375rem/1.5 var(--sans); color: var(--info); background: var(--info-paper); border-bottom: 1px solid color-mix(in srgb, currentcolor 35%, transparent); }
.site-banner p { margin: 0; max-width: 56rem; overflow-wrap: anywhere; white-space: pre-line; }
.site-banner.is-warning { color: var(--warn); background: var(--warn-paper); }
.site-banner.is-critical { color: var(--bad); background: var(--bad-paper); }
.site-banner button { flex: none; display: inline-flex; align-items: center; justify-content: center; min-width: 2rem; min-height: 2rem; margin: -0.25rem 0; padding: 0; border: 0; border-radius: var(--round-s); background: none; color: inherit; font: 1.25rem/1 var(--sans); cursor: pointer; }
.site-banner button:hover { background: var(--hover); }
.site-banner button:focus-visible { outline: 3px solid currentcolor; outline-offset: -2px; }
`;

/** Dismissed by its text, in the whole browser: the web app reads the same key. */
const BANNER_KEY = 'easel.banner';

export const BANNER_SCRIPT = `const KEY = '${BANNER_KEY}';
const LATEST_MS = 2147483647;
const ROLES = { info: 'Notice', warning: 'Warning', critical: 'Important' };
const ROLES_ES = { info: 'Aviso', warning: 'Advertencia', critical: 'Importante' };
const isSpanish = document.documentElement.lang === 'es';

function dismissed() {
  try {
    return localStorage.getItem(KEY);
  } catch (error) {
    console.debug('nothing is remembered', error);
    return null;
  }
}

function dismiss(text) {
  try {
    localStorage.setItem(KEY, text);
  } catch (error) {
    console.debug('nothing is remembered', error);
  }
}

function show({ text, level }) {
  const shown = document.createElement('aside');
  shown.className = 'site-banner is-' + level;
  shown.setAttribute('aria-label', (isSpanish ? ROLES_ES : ROLES)[level]);
  const line = document.createElement('p');
  line.setAttribute('role', 'status');
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = '\u00d7';
  button.setAttribute('aria-label', isSpanish ? 'Cerrar aviso' : 'Dismiss');
  button.addEventListener('click', () => {
    dismiss(text);
    shown.remove();
  });
  shown.append(line, button);
  const skip = document.querySelector('body > .skip');
  if (skip) skip.after(shown);
  else document.body.prepend(shown);
  // After it is there, so that it is announced.
  line.textContent = text;
  return shown;
}

const reply = await fetch('/v1/banner', { headers: { accept: 'application/json' } }).catch(() => undefined);
const banner = reply?.ok ? (await reply.json()).banner : null;
if (banner && banner.text !== dismissed()) {
  const waitMs = (at) => Math.min(LATEST_MS, Math.max(0, Date.parse(at) - Date.now()));
  const begin = () => {
    const shown = show(banner);
    if (banner.to !== null) setTimeout(() => shown.remove(), waitMs(banner.to));
  };
  if (banner.from === null || waitMs(banner.from) === 0) begin();
  else setTimeout(begin, waitMs(banner.from));
}
`;
