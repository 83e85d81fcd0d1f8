/** Starts the app: the language first, then who is signed in, then the screens. */
import { render } from 'preact';
import { problemOf } from './api/problem.ts';
import { App } from './app.tsx';
import { loadBanner } from './state/banner.ts';
import { followOtherWindows, readOpened } from './state/prefs.ts';
import { loadMe, myId } from './state/session.ts';
import { watchWindow } from './state/store.ts';
import { keepTab } from './state/window.ts';
import { ProblemState } from './ui/states.tsx';
import { localeAtStart, speak } from './words/words.ts';

async function start(root: Element): Promise<void> {
  keepTab();
  followOtherWindows();
  await speak(localeAtStart());
  const isOpenToAll = location.pathname === '/design';
  try {
    if (isOpenToAll) void loadBanner();
    else await loadMe();
  } catch (error) {
    const problem = problemOf(error);
    // Where the session has ended the sign-in page is on its way.
    if (problem.status !== 401) render(<ProblemState problem={problem} onRetry={() => location.reload()} />, root);
    return;
  }
  readOpened(myId());
  watchWindow();
  root.textContent = '';
  render(<App />, root);
}

const root = document.getElementById('app');
if (root !== null) void start(root);
