import { describe, expect, it } from 'vitest';
import type { ArtifactActor } from '../../../actors/runtime/artifact-actor.ts';
import { inOneTurn, Undone } from '../../../actors/runtime/atomic.ts';
import type { ActorRuntime } from '../../../actors/runtime/runtime.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import { settle } from '../../support/stepped-clock.ts';
import { put, read, setStage } from './runtime-fixture.ts';

type Turn = (actor: ArtifactActor) => unknown;

const write =
  (key: string, text: string): Turn =>
  ({ json }) =>
    json.put(key, text, {}).created;
const refuse: Turn = () => {
  throw new Failure('PATCH_FAILED');
};

async function all(runtime: ActorRuntime, id: ArtifactId, turns: readonly Turn[]): Promise<unknown[]> {
  const { turn, prepare } = inOneTurn(turns.map((one) => ({ turn: one, prepare: undefined })));
  return runtime.ask(id, turn, prepare);
}

describe('several turns as one', () => {
  it('[one commit] nothing can come between two turns, and each sees those before it', async () => {
    const { runtime, id, store } = setStage();
    const values = await all(runtime, id, [write('a', '1'), write('b', '2'), ({ json }) => json.get('a').warmText]);
    expect(values).toEqual([true, true, '1']);
    expect(store.batches.at(-1)?.[0]?.changes.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('[all or none] a refusal undoes the turns before it, and nothing of other callers', async () => {
    const { runtime, id, store } = setStage();
    await put(runtime, id, 'a', '1');
    store.commits.isShut = true;
    const settled: string[] = [];
    const earlier = put(runtime, id, 'a', '2').then(() => settled.push('earlier'));
    const refused = all(runtime, id, [write('a', '3'), write('b', '3'), refuse]).catch((error: unknown) => {
      settled.push('refused');
      return error;
    });
    const later = read(runtime, id, 'a').then((text) => settled.push(text));
    await settle();
    // The refusal depends on a change that is not durable yet, so it waits for the commit.
    expect(settled).toEqual([]);
    store.commits.open();
    await Promise.all([earlier, later]);
    expect(await refused).toMatchObject({ index: 2, failure: { code: 'PATCH_FAILED' } });
    expect(await refused).toBeInstanceOf(Undone);
    expect(settled).toEqual(expect.arrayContaining(['earlier', 'refused', '2']));
    expect(store.of(id).log.map(({ seq }) => seq)).toEqual([1, 2]);
    // The sequence numbers of the undone changes are used again.
    await put(runtime, id, 'b', '4');
    expect(store.of(id).log.at(-1)).toMatchObject({ seq: 3, key: 'b', value: '4' });
  });

  it('[nothing changed] a refusal of the first turn keeps the actor in memory', async () => {
    const { runtime, id, store } = setStage();
    await put(runtime, id, 'a', '1');
    await expect(all(runtime, id, [refuse, write('a', '2')])).rejects.toMatchObject({ index: 0 });
    expect(await read(runtime, id, 'a')).toBe('1');
    expect(store.loadCount).toBe(1);
  });

  it('[a bug] stops the actor, as in a single turn', async () => {
    const { runtime, id } = setStage();
    const bug: Turn = () => {
      throw new TypeError('a bug');
    };
    await expect(all(runtime, id, [write('a', '1'), bug])).rejects.toThrow('a bug');
    await expect(read(runtime, id, 'a')).rejects.toMatchObject({ code: 'KEY_NOT_FOUND' });
  });
});
