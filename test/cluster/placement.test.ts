/** Placement over the registry in memory, on a clock that the tests move. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { localPlacement } from '../../actors/runtime/placement.ts';
import type { MembershipChange, Placement } from '../../actors/runtime/ports.ts';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { Members } from '../../src/cluster/placement/members.ts';
import { PlacementUpkeep } from '../../src/cluster/placement/upkeep.ts';
import { codeOf, put, read } from '../actors/runtime/runtime-fixture.ts';
import { SILENT } from '../sim/world.ts';
import { settle } from '../support/stepped-clock.ts';
import { clusterStage } from './cluster-stage.ts';

const HERE = { here: true };

describe.each([
  ['of one process', async (): Promise<Placement> => localPlacement()],
  ['in a cluster', async (): Promise<Placement> => (await clusterStage().join('a')).placement],
])('every placement: %s', (_, newPlacement) => {
  it('claims, locates, releases and claims again', async () => {
    const placement = await newPlacement();
    const id = newId('artifact');
    expect(placement.holds()).toBe(true);
    expect(await placement.locate(id)).toEqual(HERE);
    expect(await placement.claim(id)).toBe(true);
    // What is known is told at once.
    expect(placement.locate(id)).toEqual(HERE);
    expect(placement.claim(id)).toBe(true);
    await placement.release(id);
    placement.forget(id);
    expect(await placement.claim(id)).toBe(true);
  });

  it('loses nothing by itself, and ends', async () => {
    const placement = await newPlacement();
    const lost: string[] = [];
    placement.onLost((id) => lost.push(id));
    await placement.claim(newId('artifact'));
    await placement.drain();
    await placement.stop();
    expect(lost).toEqual([]);
  });
});

describe('nodes of a cluster', () => {
  it('agree on the owner, and each claims only what it is chosen for', async () => {
    const stage = clusterStage();
    const [a, b] = [await stage.join('a'), await stage.join('b')];
    await stage.clock.advance(1000);
    const ofA = stage.chosenFor(a);
    const there = { here: false, address: 'a:7000', incarnation: a.placement.self()?.incarnation };
    expect(await b.placement.locate(ofA)).toEqual(there);
    expect(stage.registry.claims.size).toBe(0);
    expect(await a.placement.locate(ofA)).toEqual(HERE);
    expect(await b.placement.claim(ofA)).toBe(false);
    // The answer is remembered until there is evidence against it.
    expect(b.placement.locate(ofA)).toEqual(there);
    await a.placement.release(ofA);
    expect(b.placement.locate(ofA)).toEqual(there);
    b.placement.forget(ofA);
    expect(await b.placement.claim(ofA)).toBe(true);
    a.placement.forget(ofA);
    expect(await a.placement.locate(ofA)).toMatchObject({ here: false, address: 'b:7000' });
  });

  it('share one question among all who ask at once', async () => {
    const stage = clusterStage();
    const a = await stage.join('a');
    const ids = Array.from({ length: 50 }, () => stage.newArtifact());
    const before = a.link.finds;
    const all = await Promise.all(ids.flatMap((id) => [a.placement.locate(id), a.placement.locate(id)]));
    expect(all.every(({ here }) => here)).toBe(true);
    expect(a.link.finds - before).toBe(1);
  });

  it('tell who joins, drains and leaves', async () => {
    const stage = clusterStage();
    const a = await stage.join('a');
    const told: [MembershipChange['kind'], string][] = [];
    a.placement.onMembership(({ kind, node }) => told.push([kind, node.address]));
    const b = await stage.join('b');
    expect(
      a.placement
        .nodes()
        .map(({ address }) => address)
        .sort(),
    ).toEqual(['a:7000', 'b:7000']);
    await b.placement.drain();
    await stage.clock.advance(1000);
    await b.placement.stop();
    await stage.clock.advance(1000);
    expect(told).toEqual([
      ['joined', 'b:7000'],
      ['draining', 'b:7000'],
      ['left', 'b:7000'],
    ]);
    expect(a.placement.nodes()).toEqual([a.placement.self()]);
  });

  it('choose evenly, alike, and move only what a newcomer gets', () => {
    const nodes = Array.from({ length: 5 }, (_, at) => ({ incarnation: `i${at}`, address: `node-${at}:7000`, isDraining: false }));
    const [four, five, reversed] = [new Members(), new Members(), new Members()];
    four.update(nodes.slice(0, 4));
    five.update(nodes);
    reversed.update(nodes.toReversed());
    const shares = new Map<string, number>();
    for (let at = 0; at < 20_000; at += 1) {
      const id = newId('artifact');
      const [before, after] = [four.chosen(id)?.address, five.chosen(id)?.address ?? ''];
      expect(reversed.chosen(id)?.address).toBe(after);
      if (after !== before) expect(after).toBe('node-4:7000');
      shares.set(after, (shares.get(after) ?? 0) + 1);
    }
    // A share of 4000 has a standard deviation of 57.
    for (const share of shares.values()) expect(Math.abs(share - 4000)).toBeLessThan(400);
  });
});

describe('[C1] a node that was stopped past its lease', () => {
  it('answers no read, writes nothing, and comes back as another incarnation', async () => {
    const stage = clusterStage();
    const [a, b] = [await stage.join('a'), await stage.join('b')];
    const id = stage.chosenFor(a);
    await put(a.runtime, id, 'k', 'old');
    a.clock.stop();
    await stage.clock.advance(4000);
    expect(await b.placement.claim(id)).toBe(true);
    await put(b.runtime, id, 'k', 'new');
    expect(await codeOf(() => read(a.runtime, id, 'k'))).toBe('OWNER_MOVED');
    expect(await codeOf(() => put(a.runtime, id, 'k', 'zombie'))).toBe('OWNER_MOVED');
    a.clock.continue();
    await stage.clock.advance(0);
    expect(a.lost).toEqual([id]);
    await stage.clock.advance(1000);
    expect(a.placement.holds()).toBe(true);
    expect(a.incarnations).toHaveLength(2);
    expect(await a.placement.locate(id)).toMatchObject({ here: false, address: 'b:7000' });
    expect(await read(b.runtime, id, 'k')).toBe('new');
  });

  it('does not answer what was in commit, nor tell of it', async () => {
    const stage = clusterStage();
    const a = await stage.join('a');
    const id = stage.chosenFor(a);
    await put(a.runtime, id, 'k', 'old');
    const told: number[] = [];
    a.runtime.onCommitted((_, changes) => told.push(changes.length));
    let land: () => void = () => undefined;
    const landing = new Promise<void>((resolve) => {
      land = resolve;
    });
    const commit = stage.store.commit.bind(stage.store);
    stage.store.commit = async (batches) => {
      const outcomes = await commit(batches);
      await landing;
      return outcomes;
    };
    const write = codeOf(put(a.runtime, id, 'k', 'in commit'));
    const readers = codeOf(read(a.runtime, id, 'k'));
    await settle();
    a.clock.stop();
    await stage.clock.advance(4000);
    land();
    // It may have been stored, so the answer must not make the caller repeat it blindly.
    expect([await write, await readers]).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
    expect(told).toEqual([]);
  });
});

describe('[C2] a registry that forgets', () => {
  it.each(['emptied', 'failed over'])('%s: owners say again what they hold, and no epoch goes back', async (how) => {
    const stage = clusterStage();
    const [a, b] = [await stage.join('a'), await stage.join('b')];
    const [ofA, ofB] = [stage.chosenFor(a), stage.chosenFor(b)];
    await put(a.runtime, ofA, 'k', '1');
    await put(b.runtime, ofB, 'k', '1');
    const epochs = [stage.store.of(ofA).epoch, stage.store.of(ofB).epoch];
    if (how === 'emptied') stage.registry.flush();
    else stage.registry.failOver([ofA]);
    b.placement.forget(ofA);
    const claimed = b.placement.claim(ofA);
    await stage.clock.advance(4000);
    expect(await claimed).toBe(false);
    expect(await read(a.runtime, ofA, 'k')).toBe('1');
    expect(await read(b.runtime, ofB, 'k')).toBe('1');
    expect([a.lost, b.lost]).toEqual([[], []]);
    expect([stage.store.of(ofA).epoch, stage.store.of(ofB).epoch]).toEqual(epochs);
  });

  it('a claim that is lost while its owner is away goes to another, under a higher epoch', async () => {
    const stage = clusterStage();
    const [a, b] = [await stage.join('a'), await stage.join('b')];
    const id = stage.chosenFor(a);
    await put(a.runtime, id, 'k', '1');
    const { epoch } = stage.store.of(id);
    a.link.isCut = true;
    stage.registry.flush();
    const claimed = b.placement.claim(id);
    await stage.clock.advance(5000);
    expect(await claimed).toBe(true);
    await put(b.runtime, id, 'k', '2');
    expect(stage.store.of(id).epoch).toBeGreaterThan(epoch);
    expect(await codeOf(() => read(a.runtime, id, 'k'))).toBe('OWNER_MOVED');
    a.link.isCut = false;
    await stage.clock.advance(1000);
    expect(a.lost).toEqual([id]);
    expect(a.placement.holds()).toBe(true);
  });
});

describe('[C3] ownership begins with the answer of the registry', () => {
  it('a claim whose answer comes after the lease is none', async () => {
    const stage = clusterStage();
    const a = await stage.join('a');
    const id = stage.chosenFor(a);
    let answer: () => void = () => undefined;
    a.link.held = new Promise((resolve) => {
      answer = resolve;
    });
    const write = codeOf(put(a.runtime, id, 'k', '1'));
    await settle();
    expect(stage.registry.claims.get(id)).toBe(a.placement.self()?.incarnation);
    expect(stage.store.of(id).epoch).toBe(0);
    a.clock.stop();
    await stage.clock.advance(4000);
    answer();
    expect(await write).toBe('UNAVAILABLE');
    expect(stage.store.of(id).epoch).toBe(0);
  });
});

describe('[C4] a renewal that fails or is late is no loss', () => {
  it('within the lease it is tried again, and nothing is lost', async () => {
    const stage = clusterStage();
    const a = await stage.join('a');
    const id = stage.chosenFor(a);
    await put(a.runtime, id, 'k', '1');
    for (let round = 0; round < 20; round += 1) {
      a.link.failingBeats = 6;
      await stage.clock.advance(3000);
      expect(await read(a.runtime, id, 'k')).toBe('1');
    }
    expect(a.lost).toEqual([]);
    expect(a.incarnations).toHaveLength(1);
  });

  it('beyond it the lease is lost, and a new one begins when the registry is back', async () => {
    const stage = clusterStage();
    const a = await stage.join('a');
    const id = stage.chosenFor(a);
    await put(a.runtime, id, 'k', '1');
    a.link.isCut = true;
    await stage.clock.advance(3000);
    expect(a.placement.holds()).toBe(false);
    expect(a.lost).toEqual([id]);
    expect(await codeOf(() => put(a.runtime, id, 'k', '2'))).toBe('OWNER_MOVED');
    a.link.isCut = false;
    await stage.clock.advance(1000);
    expect(await read(a.runtime, id, 'k')).toBe('1');
    expect(a.incarnations).toHaveLength(2);
  });
});

describe('[C5] a clock that is set', () => {
  it.each([-3_600_000, 3_600_000])('by %d ms changes nothing', async (stepMs) => {
    const stage = clusterStage();
    const [a, b] = [await stage.join('a'), await stage.join('b')];
    const id = stage.chosenFor(a);
    await put(a.runtime, id, 'k', '1');
    a.clock.wallStepMs = stepMs;
    expect(a.placement.holds()).toBe(true);
    await stage.clock.advance(10_000);
    expect(await read(a.runtime, id, 'k')).toBe('1');
    expect(await b.placement.claim(id)).toBe(false);
    expect([a.lost, a.incarnations.length]).toEqual([[], 1]);
    // Nor does it make a lease longer.
    a.link.isCut = true;
    await stage.clock.advance(3000);
    expect(await codeOf(() => read(a.runtime, id, 'k'))).toBe('OWNER_MOVED');
  });
});

describe('[C6] after a move the old actor is over', () => {
  it('its holders hear of it, its callers are told, and it writes nothing', async () => {
    const stage = clusterStage();
    const [a, b] = [await stage.join('a'), await stage.join('b')];
    const id = stage.chosenFor(a);
    await put(a.runtime, id, 'k', '1');
    let isOver = false;
    await a.runtime.ask(id, (actor) => void actor.hold(() => (isOver = true)));
    // A connection keeps an artifact where it is until the node drains.
    expect(a.runtime.handOver(id, 'without connections')).toBe(false);
    await a.placement.drain();
    await a.runtime.drain();
    expect(isOver).toBe(true);
    expect(a.runtime.stats().actors).toBe(0);
    expect(await codeOf(put(a.runtime, id, 'k', '2'))).toBe('OWNER_MOVED');
    expect(await a.placement.locate(id)).toMatchObject({ here: false, address: 'b:7000' });
    await put(b.runtime, id, 'k', '3');
    expect(await codeOf(put(a.runtime, id, 'k', '4'))).toBe('OWNER_MOVED');
    expect(await read(b.runtime, id, 'k')).toBe('3');
  });
});

describe('[C8] every artifact has an owner again', () => {
  it('after a drain, in which some are still served while the next owners load others', async () => {
    const stage = clusterStage();
    const [a, b] = [await stage.join('a'), await stage.join('b')];
    const ids = Array.from({ length: 500 }, () => stage.newArtifact());
    await Promise.all(ids.map((id) => a.placement.claim(id)));
    await Promise.all(ids.map((id) => put(a.runtime, id, 'k', '1')));
    await a.placement.drain();
    const drained = a.runtime.drain();
    await stage.clock.advance(1000);
    const left = a.runtime.stats().actors;
    expect([left > 0, left < ids.length]).toEqual([true, true]);
    await stage.clock.advance(2000);
    await drained;
    await a.placement.stop();
    expect(await Promise.all(ids.map((id) => b.placement.claim(id)))).toEqual(ids.map(() => true));
  });

  it('within a lease after its owner died, or was stopped in the middle of its drain', async () => {
    const stage = clusterStage();
    const [a, b] = [await stage.join('a'), await stage.join('b')];
    const ids = Array.from({ length: 20 }, () => stage.newArtifact());
    await Promise.all(ids.map((id) => a.placement.claim(id)));
    await a.placement.drain();
    a.clock.stop();
    await stage.clock.advance(3000);
    expect(await Promise.all(ids.map((id) => b.placement.claim(id)))).toEqual(ids.map(() => true));
  });
});

describe('rate windows', () => {
  it('go along when an artifact moves, and are lost with a node that dies', async () => {
    const stage = clusterStage();
    const [a, b] = [await stage.join('a'), await stage.join('b')];
    const id = stage.chosenFor(a);
    await put(a.runtime, id, 'k', '1');
    for (let call = 0; call < 10; call += 1) {
      expect(a.runtime.spend(id, 60).accepted).toBe(true);
      await stage.clock.advance(100);
    }
    expect(a.runtime.handOver(id, 'without connections')).toBe(true);
    await settle();
    await b.placement.claim(id);
    expect(b.runtime.spend(id, 401).accepted).toBe(false);
    expect(b.runtime.spend(id, 400).accepted).toBe(true);
    // The calls that A accepted leave the window one after another, as they came.
    await stage.clock.advance(59_200);
    expect(b.runtime.spend(id, 0).remaining).toBeGreaterThan(0);
    expect(b.runtime.spend(id, 0).remaining).toBeLessThan(600);
    b.clock.stop();
    await stage.clock.advance(3000);
    await a.placement.claim(id);
    // The bound of what a crash lets pass: one quota.
    expect(a.runtime.spend(id, 0).remaining).toBeLessThanOrEqual(1000);
  });
});

describe('upkeep', () => {
  async function pairWithUpkeep() {
    const stage = clusterStage();
    const a = await stage.join('a');
    const upkeep = new PlacementUpkeep({ ...a, registry: a.link, actors: a.runtime, clock: stage.clock, log: SILENT });
    onTestFinished(() => upkeep.stop());
    const ids = Array.from({ length: 200 }, () => stage.newArtifact());
    await Promise.all(ids.map((id) => put(a.runtime, id, 'k', '1')));
    return { stage, a, ids };
  }

  it('a newcomer gets its share, but what has a connection stays until the drain', async () => {
    const { stage, a, ids } = await pairWithUpkeep();
    const b = await stage.join('b');
    const share = ids.filter((id) => b.placement.chosen(id)?.incarnation === b.placement.self()?.incarnation);
    const [held] = share;
    if (held === undefined) throw new Error('the newcomer is chosen for nothing');
    await a.runtime.ask(held, (actor) => void actor.hold(() => undefined));
    await stage.clock.advance(20_000);
    const moved = share.filter((id) => a.placement.claims().get(id) === undefined);
    expect(moved).toEqual(share.filter((id) => id !== held));
    expect(a.placement.claims().size).toBe(ids.length - moved.length);
    expect(await b.placement.claim(held)).toBe(false);
    await read(b.runtime, moved[0] as ArtifactId, 'k');
  });

  it('a node that comes and goes moves nothing', async () => {
    const { stage, a, ids } = await pairWithUpkeep();
    const b = await stage.join('b');
    await b.placement.stop();
    await stage.clock.advance(20_000);
    expect(a.placement.claims().size).toBe(ids.length);
  });

  it('claims that nobody used are given up, and those of a node that died leave the registry', async () => {
    const { stage, a, ids } = await pairWithUpkeep();
    const b = await stage.join('b');
    await Promise.all(Array.from({ length: 50 }, () => b.placement.claim(stage.newArtifact())));
    await Promise.all(Array.from({ length: 50 }, () => a.placement.claim(stage.newArtifact())));
    b.clock.stop();
    await stage.clock.advance(150_000);
    // Idle actors have left by then as well.
    expect(a.placement.claims().size).toBe(0);
    expect(stage.registry.claims.size).toBe(0);
    expect(await read(a.runtime, ids[0] as ArtifactId, 'k')).toBe('1');
  });
});
