/** Searches of one caller take turns, and leave room for those of others. */
import { expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { searchQueue } from '../../../../src/features/library/search/searching.ts';

/** A search that is over when it is told so. */
function search() {
  let finish!: () => void;
  const over = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let isRunning = false;
  const work = () => {
    isRunning = true;
    return over;
  };
  return { work, finish, isRunning: () => isRunning };
}

test('two of one caller run, so many wait, and further ones are refused; those of another caller go on', async () => {
  const queue = searchQueue();
  const greedy = { caller: 'greedy', network: 'one' };
  const all = Array.from({ length: LIMITS.callerSearchesMax + LIMITS.callerSearchesWaitingMax }, search);
  const ended = all.map(({ work }) => queue.run(greedy, work));
  expect(all.filter(({ isRunning }) => isRunning()).length).toBe(LIMITS.callerSearchesMax);
  await expect(queue.run(greedy, search().work)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const other = search();
  const otherEnded = queue.run({ caller: 'other', network: 'other' }, other.work);
  expect(other.isRunning()).toBe(true);
  const last = search();
  const lastEnded = queue.run({ caller: 'third', network: 'third' }, last.work);
  const leaving = new AbortController();
  const left = queue.run({ caller: 'fourth', network: 'fourth' }, search().work, leaving.signal);
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  for (const { finish } of [...all, other, last]) finish();
  await Promise.all([...ended, otherEnded, lastEnded]);
  expect(all.every(({ isRunning }) => isRunning())).toBe(true);
});
