/** The budgets of SyncStep1: what members, connections, networks and artifacts may ask for. */
import { expect, it } from 'vitest';
import type { Link } from '../../src/edge/socket.ts';
import { SyncBudgets, type SyncRequest, SyncRequests } from '../../src/realtime/sync-requests.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const MB = 1024 * 1024;

function link(): Link & { closedWith?: number } {
  const made = { close: (code: number) => void Object.assign(made, { closedWith: code }) } as unknown as Link & { closedWith?: number };
  return made;
}

/** Members whose answers have so many bytes. */
function world(bytes: number) {
  const clock = new VirtualClock();
  const budgets = new SyncBudgets(clock);
  const answered: SyncRequest[] = [];
  const answer = (request: SyncRequest) => {
    answered.push(request);
    return bytes;
  };
  const member = (on: Link, network: string, artifactId: string) => new SyncRequests(budgets, { link: on, network, artifactId }, answer);
  return { clock, answered, member };
}

const WHOLE: SyncRequest = { stateVector: Uint8Array.of(0) };

it('[member] four at once and then one a second: the newest of those that wait', () => {
  const { clock, answered, member } = world(10);
  const one = member(link(), 'n', 'a');
  for (let index = 0; index < 50; index += 1) one.ask({ stateVector: Uint8Array.of(index) });
  expect(answered).toHaveLength(4);
  one.ask({ awareness: true });
  clock.advance(1500);
  expect(answered.slice(4)).toEqual([{ stateVector: Uint8Array.of(49), awareness: true }]);
  clock.advance(60_000);
  expect(answered).toHaveLength(5);
});

it('[connection] many members of one connection share its budget', () => {
  const { clock, answered, member } = world(10 * MB);
  const shared = link();
  for (let index = 0; index < 100; index += 1) member(shared, 'n', `a${index}`).ask(WHOLE);
  expect(answered).toHaveLength(12);
  member(link(), 'other', 'a').ask(WHOLE);
  expect(answered).toHaveLength(13);
  // Nobody is forgotten.
  clock.advance(400_000);
  expect(answered).toHaveLength(101);
});

it.each([
  ['network', (index: number): [string, string] => ['n', `a${index}`], 50],
  ['artifact', (index: number): [string, string] => [`n${index}`, 'a'], 100],
])('[%s] many connections share its budget, and others are answered beside them', (_kind, placeOf, atOnce) => {
  const { clock, answered, member } = world(10 * MB);
  for (let index = 0; index < 200; index += 1) member(link(), ...placeOf(index)).ask(WHOLE);
  expect(answered).toHaveLength(atOnce);
  member(link(), 'stranger', 'another').ask(WHOLE);
  expect(answered).toHaveLength(atOnce + 1);
  clock.advance(60_000);
  expect(answered).toHaveLength(201);
});

it('[beyond] a member with a thousand requests in one pause is closed with a code after which it comes back', () => {
  const { clock, answered, member } = world(10);
  const closing = link();
  const one = member(closing, 'n', 'a');
  for (let times = 0; times < 1004; times += 1) one.ask(WHOLE);
  expect(closing.closedWith).toBeUndefined();
  one.ask(WHOLE);
  expect(closing.closedWith).toBe(1013);
  one.stop();
  clock.advance(60_000);
  expect(answered).toHaveLength(4);
});
