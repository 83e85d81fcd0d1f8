import { describe, expect, it } from 'vitest';
import { EgressSlots } from '../../src/egress/slots.ts';

const never = new AbortController().signal;

describe('slots for calls to the outside', () => {
  it('one share never holds more than its part, and the shares that wait take turns', async () => {
    const slots = new EgressSlots({ total: 3, perShare: 2, waitingPerShare: 10, waitingTotal: 100 });
    const begun: string[] = [];
    const begin = async (share: string, name: string) => {
      const giveBack = await slots.take(share, never);
      begun.push(name);
      return giveBack;
    };
    const first = [await begin('greedy', 'g1'), await begin('greedy', 'g2')];
    const waiting = [begin('greedy', 'g3'), begin('greedy', 'g4')];
    const other = await begin('other', 'o1');
    const others = [begin('other', 'o2'), begin('third', 't1')];
    expect(begun).toEqual(['g1', 'g2', 'o1']);
    first[0]?.();
    (await waiting[0])?.();
    first[0]?.();
    other();
    first[1]?.();
    await Promise.all([...waiting, ...others]);
    expect(begun).toEqual(['g1', 'g2', 'o1', 'g3', 'o2', 't1', 'g4']);
  });

  it('refuses beyond the bound of those that wait, and forgets who gave up', async () => {
    const slots = new EgressSlots({ total: 1, perShare: 1, waitingPerShare: 1, waitingTotal: 2 });
    const giveBack = await slots.take('a', never);
    const patience = new AbortController();
    const given = slots.take('a', patience.signal);
    await expect(slots.take('a', never)).rejects.toMatchObject({ reason: 'busy' });
    const second = slots.take('b', never);
    await expect(slots.take('c', never)).rejects.toMatchObject({ reason: 'busy' });
    patience.abort(new Error('gave up'));
    await expect(given).rejects.toThrow('gave up');
    giveBack();
    (await second)();
    expect(slots.used).toBe(0);
  });
});
