/** The scripts of our pages. What they add is hidden until they run, so that each page is whole without them. */

/** The colours that the reader has chosen in this browser. It runs before the first paint, so that nothing flashes. */
export const THEME_SCRIPT = `try {
  const theme = localStorage.getItem('easel.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch (error) {
  console.debug('the theme of the system is used', error);
}
`;

/** A button that copies the text of another element. */
export const COPY_SCRIPT = `for (const button of document.querySelectorAll('[data-copy]')) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const said = document.querySelector('[data-copied]');
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      said.textContent = 'Copied.';
    } catch {
      said.textContent = 'Your browser does not allow it; select the text instead.';
    }
  });
}
`;

/** Signs in with a passkey, and adds one. A browser that cannot shows neither button. */
export const PASSKEY_SCRIPT = `async function call(path, body) {
  const reply = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const answer = await reply.json();
  if (!reply.ok) throw new Error(answer.error);
  return answer;
}

function offer(button, steps, next) {
  const problem = document.querySelector('[data-passkey-problem]');
  button.hidden = false;
  button.addEventListener('click', async () => {
    button.disabled = true;
    problem.hidden = true;
    try {
      await steps();
      location.assign(next);
    } catch (error) {
      problem.textContent = error.name === 'NotAllowedError' ? 'No passkey was used.' : error.message;
      problem.hidden = false;
      button.disabled = false;
    }
  });
}

const credentials = window.PublicKeyCredential;
const signIn = document.querySelector('[data-passkey]');
if (signIn && credentials?.parseRequestOptionsFromJSON) {
  offer(signIn, async () => {
    const { options } = await call('/v1/auth/passkey/sign-in/start', {});
    const publicKey = credentials.parseRequestOptionsFromJSON(options);
    const credential = await navigator.credentials.get({ publicKey });
    await call('/v1/auth/passkey/sign-in/finish', { credential: credential.toJSON() });
  }, signIn.dataset.returnTo);
}
const add = document.querySelector('[data-add-passkey]');
if (add && credentials?.parseCreationOptionsFromJSON) {
  offer(add, async () => {
    const { options } = await call('/v1/auth/passkeys/register/start', {});
    const publicKey = credentials.parseCreationOptionsFromJSON(options);
    const credential = await navigator.credentials.create({ publicKey });
    await call('/v1/auth/passkeys/register/finish', { credential: credential.toJSON() });
  }, '/account?done=passkey-added');
}
`;
