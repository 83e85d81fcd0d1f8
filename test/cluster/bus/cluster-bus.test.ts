/** The bus over several nodes: what is told on one is heard on all, and where that is not certain everything is decided anew. */
import { describe, expect, test } from 'vitest';
import { newId } from '../../../protocol/core/ids.ts';
import { DOUBT_MS } from '../../../src/cluster/bus/cluster-bus.ts';
import { LINGER_MS, SILENCE_MS } from '../../../src/cluster/bus/peer-streams.ts';
import type { Fact } from '../../../src/platform/bus.ts';
import { BusStage, type StageNode } from './bus-stage.ts';

/** What was revoked is over everywhere within this time. */
const BOUND_MS = 1000;

const revoked = (): Fact => ({ kind: 'token.revoked', tokenId: newId('token'), credential: 'personal:00' });
const account = (): Fact => ({ kind: 'account.changed', userId: newId('user') });
const person = (): Fact => ({ kind: 'person.changed', userIds: [newId('user')] });

async function two(): Promise<{ stage: BusStage; one: StageNode; other: StageNode }> {
  const stage = new BusStage();
  const [one, other] = (await stage.settled('one:1', 'other:1')) as [StageNode, StageNode];
  return { stage, one, other };
}

/** The longest time without a drop within `ms`. */
async function longestAge(stage: BusStage, node: StageNode, ms: number): Promise<number> {
  let longest = 0;
  let ageMs = 0;
  for (let passed = 0; passed < ms; passed += 10) {
    node.heard.length = 0;
    await stage.pass(10);
    ageMs = node.heard.includes('everything') ? 0 : ageMs + 10;
    longest = Math.max(longest, ageMs);
  }
  return longest;
}

describe('while nothing is lost', () => {
  test('a fact is reacted to here at once, and on the others in order, once', async () => {
    const { stage, one, other } = await two();
    one.bus.tell(revoked());
    expect(one.heard).toEqual(['token.revoked']);
    one.bus.tell(account());
    one.bus.tell(person());
    await stage.pass(2000);
    expect(one.heard).toEqual(['token.revoked', 'account.changed', 'person.changed']);
    expect(other.heard).toEqual(['token.revoked', 'account.changed', 'person.changed']);
  });

  test('nodes that come and go properly raise no doubt', async () => {
    const { stage, one, other } = await two();
    const third = stage.node('third:1');
    await stage.pass(LINGER_MS);
    third.bus.tell(revoked());
    await stage.pass(100);
    stage.leave('third:1');
    await third.bus.stop();
    await stage.pass(LINGER_MS);
    expect([one.heard, other.heard]).toEqual([['token.revoked'], ['token.revoked']]);
    expect([one.bus.isInDoubt, other.bus.isInDoubt]).toEqual([false, false]);
  });

  test('a node alone hears itself and is not in doubt', async () => {
    const stage = new BusStage();
    const [alone] = await stage.settled('alone:1');
    await stage.pass(5000);
    expect([alone?.bus.isInDoubt, alone?.heard]).toEqual([false, []]);
  });

  test('a message that was sent twice, because its answer was lost, counts once', async () => {
    const { stage, one, other } = await two();
    one.wire.sends = 'unanswered';
    one.bus.tell(revoked());
    await stage.pass(500);
    one.bus.tell(account());
    one.wire.sends = 'arrives';
    await stage.pass(500);
    expect(other.heard).toEqual(['token.revoked', 'account.changed']);
  });
});

describe('facts that are missing', () => {
  test('a gap before the next fact: everything is dropped, then decided anew', async () => {
    const { stage, one, other } = await two();
    other.wire.receives = false;
    one.bus.tell(revoked());
    await stage.pass(10);
    other.wire.receives = true;
    one.bus.tell(account());
    await stage.pass(10);
    expect(other.heard).toEqual(['everything', 'resync']);
    one.bus.tell(person());
    await stage.pass(2000);
    expect(other.heard).toEqual(['everything', 'resync', 'person.changed']);
  });

  test('the last fact is missed when the next heartbeat names it', async () => {
    const { stage, one, other } = await two();
    other.wire.receives = false;
    one.bus.tell(revoked());
    await stage.pass(10);
    other.wire.receives = true;
    await stage.pass(BOUND_MS);
    expect(other.heard).toEqual(['everything', 'resync']);
  });

  test.each([
    ['no JSON', 'nonsense'],
    ['another shape', '{"node":"one:1"}'],
    [
      'too many facts',
      JSON.stringify({ node: 'x:1', incarnation: null, epoch: 'e', seq: 101, facts: Array.from({ length: 101 }, account) }),
    ],
  ])('a message that cannot be read counts as a gap and is logged: %s', async (_name, text) => {
    const { stage, other } = await two();
    other.wire.arrive(text);
    await stage.pass(10);
    expect(other.heard).toEqual(['everything', 'resync']);
    expect(other.errors.length).toBe(1);
  });

  test('a kind of fact that a newer release tells is a gap, and the one after it is not', async () => {
    const { stage, one, other } = await two();
    one.bus.tell({ kind: 'moon.changed' } as unknown as Fact);
    await stage.pass(10);
    expect([other.heard, other.errors.length]).toEqual([['everything', 'resync'], 1]);
    one.bus.tell(account());
    await stage.pass(2000);
    expect(other.heard).toEqual(['everything', 'resync', 'account.changed']);
  });

  test('C12: a row of gaps drops everything at most four times a second, and once more for the last', async () => {
    const { stage, other } = await two();
    for (let garbage = 0; garbage < 100; garbage += 1) {
      other.wire.arrive('nonsense');
      await stage.pass(10);
    }
    await stage.pass(DOUBT_MS);
    expect(other.heard.filter((what) => what === 'everything').length).toBeLessThanOrEqual(1 + BOUND_MS / DOUBT_MS);
    expect(other.heard.at(-1)).toBe('resync');
  });
});

describe('while facts may be missing, nothing is older than its bound', () => {
  const CUTS: Readonly<Record<string, (one: StageNode, other: StageNode) => void>> = {
    'the sender cannot send': (one) => {
      one.wire.sends = 'refused';
    },
    'the sender gets no answer and its messages no further': (one) => {
      one.wire.sends = 'hangs';
    },
    'the receiver loses its subscription (C10)': (_, other) => other.wire.lose(),
    'the receiver hears nothing and does not notice': (_, other) => {
      other.wire.receives = false;
    },
    'Redis is away for all': (one, other) => {
      for (const { wire } of [one, other]) {
        wire.sends = 'refused';
        wire.lose();
      }
    },
  };

  test.each(Object.entries(CUTS))('%s', async (_name, cut) => {
    const { stage, one, other } = await two();
    cut(one, other);
    expect(await longestAge(stage, other, 5000)).toBeLessThan(BOUND_MS);
    expect(other.bus.isInDoubt).toBe(true);
  });

  test('a live node that was never heard', async () => {
    const { stage, other } = await two();
    stage.members = [...stage.members, { address: 'mute:1', incarnation: 'mute', isDraining: false }];
    expect(await longestAge(stage, other, 5000)).toBeLessThan(BOUND_MS);
  });

  test('a node that died without a word: until what it had under way is over', async () => {
    const { stage, one, other } = await two();
    one.wire.sends = 'hangs';
    await stage.pass(3000);
    stage.leave('one:1');
    expect(await longestAge(stage, other, LINGER_MS - 100)).toBeLessThan(BOUND_MS);
    await stage.pass(200);
    expect(other.bus.isInDoubt).toBe(false);
  });

  test('a node that is started again at the same address before anybody missed it', async () => {
    const { stage, one, other } = await two();
    one.wire.sends = 'hangs';
    const again = stage.node('one:1');
    // The lease of the one before has not ended.
    await stage.pass(1000);
    stage.members = stage.members.slice(1);
    expect(await longestAge(stage, other, LINGER_MS)).toBeLessThan(BOUND_MS);
    await stage.pass(1000);
    expect(other.bus.isInDoubt).toBe(false);
    other.heard.length = 0;
    again.bus.tell(revoked());
    await stage.pass(100);
    expect(other.heard).toEqual(['token.revoked']);
  });

  test('C1: a process that was paused drops what it has before the first request', async () => {
    const { stage, other } = await two();
    const paused = new BusStage();
    const [sleeper] = (await paused.settled('sleeper:1')) as [StageNode];
    sleeper.bus.awake();
    expect(sleeper.heard).toEqual([]);
    // Its timers have not run: only its clock has gone on.
    const read = paused.clock.monotonicMs.bind(paused.clock);
    paused.clock.monotonicMs = () => read() + SILENCE_MS + 1;
    sleeper.bus.awake();
    expect(sleeper.heard).toEqual(['everything', 'resync']);
    expect([other.heard, stage.members.length]).toEqual([[], 2]);
  });
});

describe('after it', () => {
  test('C10: a subscription that comes back: everything is decided anew, and facts are heard again', async () => {
    const { stage, one, other } = await two();
    other.wire.lose();
    one.bus.tell(revoked());
    await stage.pass(3000);
    other.wire.comeBack();
    other.heard.length = 0;
    await stage.pass(LINGER_MS + BOUND_MS);
    expect(other.heard.slice(0, 2)).toEqual(['everything', 'resync']);
    expect(other.bus.isInDoubt).toBe(false);
    other.heard.length = 0;
    one.bus.tell(account());
    await stage.pass(2000);
    expect(other.heard).toEqual(['account.changed']);
  });

  test('a node that was deaf doubts for as long as what it did not hear of may be under way', async () => {
    const { stage, other } = await two();
    other.wire.lose();
    await stage.pass(100);
    other.wire.comeBack();
    expect(await longestAge(stage, other, LINGER_MS - 100)).toBeLessThan(BOUND_MS);
    expect(other.bus.isInDoubt).toBe(true);
    await stage.pass(200);
    expect(other.bus.isInDoubt).toBe(false);
  });

  test('a subscription on which not even the own heartbeats arrive is replaced, again and again until it works', async () => {
    const { stage, other } = await two();
    other.wire.receives = false;
    await stage.pass(1000);
    expect(other.wire.renewals).toBe(0);
    await stage.pass(6000);
    expect(other.wire.renewals).toBe(3);
  });

  test('facts that could not be sent are sent in order when that is possible again', async () => {
    const { stage, one, other } = await two();
    one.wire.sends = 'refused';
    for (let told = 0; told < 250; told += 1) one.bus.tell(told % 2 === 0 ? revoked() : account());
    await stage.pass(2000);
    one.wire.sends = 'arrives';
    other.heard.length = 0;
    await stage.pass(1000);
    const facts = other.heard.filter((what) => what !== 'everything' && what !== 'resync');
    expect(facts).toEqual(Array.from({ length: 250 }, (_, n) => (n % 2 === 0 ? 'token.revoked' : 'account.changed')));
  });

  test('more facts than are kept become one gap: the others decide everything anew', async () => {
    const { stage, one, other } = await two();
    one.wire.sends = 'refused';
    for (let told = 0; told < 40; told += 1) one.bus.tell({ ...person(), credential: 'x'.repeat(200_000) } as unknown as Fact);
    one.wire.sends = 'arrives';
    other.heard.length = 0;
    await stage.pass(BOUND_MS);
    expect(other.heard).toContain('resync');
    other.heard.length = 0;
    one.bus.tell(account());
    await stage.pass(2000);
    expect(other.heard).toEqual(['account.changed']);
  });

  test('one fact that is too long to send is a gap too', async () => {
    const { stage, one, other } = await two();
    one.bus.tell({ kind: 'person.changed', userIds: Array.from({ length: 20_000 }, () => newId('user')) });
    await stage.pass(BOUND_MS);
    expect(other.heard).toEqual(['everything', 'resync']);
  });

  test('what waits is sent before a node says goodbye', async () => {
    const { stage, one, other } = await two();
    one.wire.sends = 'refused';
    for (let told = 0; told < 150; told += 1) one.bus.tell(revoked());
    await stage.pass(10);
    one.wire.sends = 'arrives';
    stage.leave('one:1');
    await one.bus.stop();
    expect(other.heard.filter((what) => what === 'token.revoked').length).toBe(150);
  });
});
