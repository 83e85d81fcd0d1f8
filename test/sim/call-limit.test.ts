/** The data limit while actors sleep, load again, fail and are discarded. SIM_SEED=n runs that seed alone, SIM_SEEDS=n that many. Source: spec.md "Limits". */
import { describe, expect, it } from 'vitest';
import type { Spent } from '../../actors/runtime/limits-part.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type Attempt, LimitedWorld } from './limited-world.ts';

const FIRST_SEED = Number(process.env.SIM_SEED ?? 1);
const SEEDS = process.env.SIM_SEED === undefined ? Math.min(40, Number(process.env.SIM_SEEDS ?? 40)) : 1;
const FAULTS = 0.15;
const WINDOW_MS = 60_000;
const CALLS_MAX = LIMITS.dataPerMinute;

/** The limit computed from a list of every accepted call: the slow and obvious model. */
class PlainWindow {
  #accepted: number[] = [];

  spend(nowMs: number, calls: number): Spent {
    const inWindow = this.#accepted.filter((atMs) => nowMs - atMs <= WINDOW_MS);
    this.#accepted = inWindow;
    const accepted = inWindow.length + calls <= CALLS_MAX;
    if (accepted) for (let call = 0; call < calls; call += 1) inWindow.push(nowMs);
    const leavesInS = (atMs = nowMs) => Math.ceil((atMs + WINDOW_MS + 1 - nowMs) / 1000);
    const tooMany = inWindow.length + calls - CALLS_MAX;
    return {
      accepted,
      limit: CALLS_MAX,
      remaining: CALLS_MAX - inWindow.length,
      resetS: inWindow.length === 0 ? 0 : leavesInS(inWindow[0]),
      retryAfterS: accepted ? 0 : calls > CALLS_MAX ? WINDOW_MS / 1000 : leavesInS(inWindow[tooMany - 1]),
      atMs: nowMs,
    };
  }
}

/** Descriptions of the attempts that differ from the model; empty when the limit was kept exactly. */
function brokenLimit(attempts: readonly Attempt[]): string[] {
  const broken: string[] = [];
  const windows = new Map<ArtifactId, PlainWindow>();
  for (const { artifactId, atMs, calls, spent } of attempts) {
    const window = windows.get(artifactId) ?? new PlainWindow();
    windows.set(artifactId, window);
    const wanted = window.spend(atMs, calls);
    if (JSON.stringify(wanted) !== JSON.stringify(spent)) {
      broken.push(`${calls} calls at ${atMs}: ${JSON.stringify(spent)} instead of ${JSON.stringify(wanted)}`);
    }
  }
  return [...broken, ...fullSpans(attempts)];
}

/** Spans of a minute, both ends included, that hold more accepted calls than the limit. Computed from the attempts, without a notion of windows. */
function fullSpans(attempts: readonly Attempt[]): string[] {
  const broken: string[] = [];
  for (const id of new Set(attempts.map(({ artifactId }) => artifactId))) {
    const accepted = attempts.flatMap(({ artifactId, atMs, calls, spent }) =>
      artifactId === id && spent.accepted ? Array.from({ length: calls }, () => atMs) : [],
    );
    accepted.forEach((atMs, at) => {
      const last = accepted[at + CALLS_MAX];
      if (last !== undefined && last - atMs <= WINDOW_MS) broken.push(`${CALLS_MAX + 1} calls from ${atMs} to ${last}`);
    });
  }
  return broken;
}

/** A few minutes of random calls. */
async function live(seed: number): Promise<LimitedWorld> {
  const world = new LimitedWorld(seed, seed % 4 === 0 ? 0 : FAULTS);
  const { random } = world;
  for (let phase = 0; phase < 12; phase += 1) {
    const id = random.chance(0.7) ? world.artifacts[0] : world.artifact;
    if (id === undefined) throw new Error('no artifacts');
    const gapMs = random.pick([0, 1, 3, 20, 59]);
    const calls = random.pick([50, 300, 1100]);
    for (let call = 0; call < calls; call += 1) {
      world.call(id, random.chance(0.02) ? random.pick([2, 50, 999, 1001]) : 1);
      if (random.chance(0.02)) world.disturb(id);
      // Time passes in steps, so that many calls share a millisecond.
      if (gapMs > 0 && call % 10 === 0) await world.pass(10 * gapMs);
    }
    await world.pass(random.pick([0, 500, 7000, 30_000, 59_999, 60_000, 60_001, 90_000]));
  }
  await world.end();
  return world;
}

describe('the data limit over simulated minutes', () => {
  it(`[exact] holds for ${SEEDS} seeds from ${FIRST_SEED}: no minute has more calls than the limit, and none is refused below it`, async () => {
    const sums = { accepted: 0, refused: 0, loads: 0, failedCommits: 0 };
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const world = await live(seed).catch((error) => {
        throw new Error(`SIM_SEED=${seed}: ${error}`, { cause: error });
      });
      expect(brokenLimit(world.attempts), `SIM_SEED=${seed}`).toEqual([]);
      expect(world.clock.timers, `SIM_SEED=${seed}`).toBe(0);
      for (const { spent } of world.attempts) sums[spent.accepted ? 'accepted' : 'refused'] += 1;
      sums.loads += world.loads;
      sums.failedCommits += world.failedCommits;
    }
    // The simulation proves something only if all of this happens.
    if (SEEDS < 20) return;
    for (const [name, count] of Object.entries(sums)) expect(count, name).toBeGreaterThan(SEEDS * 5);
  });

  it('[steady] 16.6 calls a second are never refused, also when the actor leaves memory', async () => {
    const world = new LimitedWorld(FIRST_SEED, FAULTS);
    const [id] = world.artifacts;
    if (id === undefined) throw new Error('no artifacts');
    const calls = 16.6 * 300;
    let passedMs = 0;
    for (let call = 0; call < calls; call += 1) {
      expect(world.call(id), `call ${call}`).toBe(true);
      if (world.random.chance(0.05)) world.disturb(id);
      const untilMs = Math.floor(((call + 1) * 1000) / 16.6);
      await world.pass(untilMs - passedMs);
      passedMs = untilMs;
    }
    expect(world.loads).toBeGreaterThan(20);
    expect(world.failedCommits).toBeGreaterThan(5);
    await world.end();
  });

  it('[burst] is accepted in full after idling, and refused calls cost nothing', async () => {
    const world = new LimitedWorld(FIRST_SEED, FAULTS);
    const [id] = world.artifacts;
    if (id === undefined) throw new Error('no artifacts');
    const burst = (calls: number) => {
      let accepted = 0;
      for (let call = 0; call < calls; call += 1) {
        if (world.call(id)) accepted += 1;
        if (call % 100 === 0) world.disturb(id);
      }
      return accepted;
    };
    for (let round = 0; round < 3; round += 1) {
      // Long enough for the actor to leave memory.
      await world.pass(5 * WINDOW_MS);
      expect(world.runtime.stats().actors).toBe(0);
      const startMs = world.clock.monotonicMs();
      expect(burst(CALLS_MAX + 500)).toBe(CALLS_MAX);
      // Unloading the actor starts no new window, and a refused call does not extend the window.
      while (world.clock.monotonicMs() - startMs < WINDOW_MS - 1000) {
        world.discard(id);
        expect(burst(10)).toBe(0);
        await world.pass(1000);
      }
      await world.pass(startMs + WINDOW_MS - world.clock.monotonicMs());
      expect(burst(1)).toBe(0);
      await world.pass(1);
      expect(burst(CALLS_MAX + 1)).toBe(CALLS_MAX);
    }
    expect(brokenLimit(world.attempts)).toEqual([]);
    await world.end();
  });

  it('[test of the test] a second window, as after forgetting the first too early, is caught', async () => {
    const world = await live(FIRST_SEED);
    const forgetful = new Map<ArtifactId, PlainWindow>();
    const attempts = world.attempts.map((attempt, at) => {
      if (at % 700 === 0) forgetful.clear();
      const window = forgetful.get(attempt.artifactId) ?? new PlainWindow();
      forgetful.set(attempt.artifactId, window);
      return { ...attempt, spent: window.spend(attempt.atMs, attempt.calls) };
    });
    expect(fullSpans(attempts)).not.toEqual([]);
    expect(brokenLimit(attempts).length).toBeGreaterThan(fullSpans(attempts).length);
  });
});
