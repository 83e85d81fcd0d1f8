/** The thread of the chat box: what it shows, from where it reads on, and how seldom it asks. */
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Thread } from '../../src/clients/chat-box/thread.ts';
import type { PageChatMessage, PageChatPage } from '../../src/clients/page/wire.ts';

function message(number: number, author: PageChatMessage['author']): PageChatMessage {
  return {
    id: `m${number}`,
    author,
    name: null,
    text: `text ${number}`,
    createdAt: `2026-01-01T00:00:${String(number).padStart(2, '0')}Z`,
  };
}

/** A service that keeps a chat, and time that a test lets pass. */
function stage() {
  const stored: PageChatMessage[] = [];
  const reads: (string | undefined)[] = [];
  const waits: number[] = [];
  const told: string[][] = [];
  const state = {
    status: 'open' as PageChatPage['status'],
    isHidden: false,
    isDown: false,
    pageMax: 100,
    next: undefined as (() => void) | undefined,
  };
  const thread = new Thread({
    chat: {
      async read({ after } = {}) {
        reads.push(after);
        if (state.isDown) throw new Error('nobody answers');
        const from = stored.findIndex(({ id }) => id === after) + 1;
        const messages = stored.slice(from, from + state.pageMax);
        return { status: state.status, messages, hasMore: stored.length > from + messages.length };
      },
      async write() {
        const written = message(stored.length + 1, 'visitor');
        stored.push(written);
        state.status = 'open';
        return { status: state.status, message: written };
      },
    },
    told: (added) => void told.push(added.map(({ id }) => id)),
    isHidden: () => state.isHidden,
    later: (ms, then) => {
      waits.push(ms);
      state.next = then;
      return () => {
        if (state.next === then) state.next = undefined;
      };
    },
  });
  const answer = () => stored.push(message(stored.length + 1, 'maker'));
  const pass = async () => {
    state.next?.();
    await setImmediate();
  };
  return { thread, state, stored, reads, waits, told, answer, pass };
}

const idsOf = (thread: Thread) => thread.messages.map(({ id }) => id);

it('a visitor who has written nothing asks once and waits for nothing', async () => {
  const { thread, reads, waits } = stage();
  await thread.read();
  expect([reads, waits, thread.messages]).toEqual([[undefined], [], []]);
});

it('reads on behind the last message that it has read, so that none is left out that came before its own', async () => {
  const { thread, reads, told, answer, pass } = stage();
  await thread.write('first', {});
  await pass();
  answer();
  // Written before the answer was read.
  await thread.write('second', {});
  await pass();
  expect(idsOf(thread)).toEqual(['m1', 'm2', 'm3']);
  expect(told.flat()).toEqual(['m2']);
  await thread.read();
  expect(reads.at(-1)).toBe('m3');
});

it('reads all of a long thread, and tells of a status without a message', async () => {
  const { thread, state, answer, told } = stage();
  for (let no = 0; no < 5; no += 1) answer();
  state.pageMax = 2;
  await thread.read();
  expect(idsOf(thread)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
  state.status = 'resolved';
  const before = told.length;
  await thread.read();
  expect([thread.status, told.length]).toEqual(['resolved', before + 1]);
});

it('asks more and more seldom, soon again after an answer, and not while nobody sees the page', async () => {
  const { thread, state, waits, answer, pass } = stage();
  await thread.write('first', {});
  thread.look(true);
  await setImmediate();
  const first = waits.at(-1) ?? 0;
  for (let no = 0; no < 30; no += 1) await pass();
  const seldom = waits.at(-1) ?? 0;
  expect(seldom).toBeGreaterThan(first * 3);
  expect(seldom).toBeLessThanOrEqual(20_000);
  answer();
  await pass();
  expect(waits.at(-1)).toBe(first);
  thread.look(false);
  await setImmediate();
  expect(waits.at(-1)).toBeGreaterThan(first * 3);
  state.isHidden = true;
  await pass();
  const count = waits.length;
  await pass();
  expect(waits.length).toBe(count);
});

it('says that the connection is lost, goes on asking, and says when it is back', async () => {
  const { thread, state, told, pass } = stage();
  await thread.write('first', {});
  await pass();
  state.isDown = true;
  await pass();
  expect(thread.state).toBe('offline');
  state.isDown = false;
  const before = told.length;
  await pass();
  expect([thread.state, told.length]).toEqual(['current', before + 1]);
});
