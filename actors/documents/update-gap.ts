/** Updates that build on others which a document lacks. Yjs would keep them and look through all of them at each further one. */
import * as Y from 'yjs';
import { Failure } from '../../protocol/core/errors.ts';
import type { UpdateShape } from './update-check.ts';

/** An update is missing what it builds on. It changed nothing; its sender may have what is missing. */
export class UpdateGap extends Failure {
  constructor() {
    super('INVALID_UPDATE', {
      message: 'The update builds on others that the document does not have. Send everything that the document lacks in one update.',
    });
  }
}

/** Number of clients of whom the document lacks something that the update builds on. Exact but for updates that refer to each other in a circle. */
export function gapsOf({ store }: Y.Doc, { spans, needs }: UpdateShape): number {
  let gaps = 0;
  for (const { client, from } of spans) if (from > Y.getState(store, client)) gaps += 1;
  let brought: Map<number, number> | undefined;
  for (const [client, until] of needs) {
    if (until <= Y.getState(store, client)) continue;
    brought ??= new Map(spans.map(({ client: id, to }) => [id, to]));
    if (until > (brought.get(client) ?? 0)) gaps += 1;
  }
  return gaps;
}

/** Of each client, the clock that something waits for. */
export type Missing = ReadonlyMap<number, number>;

/** What Yjs could not apply, in its format v2. */
export interface Waiting {
  readonly update: Uint8Array;
  readonly missing: Missing;
}

const NOTHING_MISSING: Missing = new Map();

/** Takes out of the document what it could not apply, so that no later update makes Yjs read it again. */
export function takeWaiting({ store }: Y.Doc): Waiting | undefined {
  const { pendingStructs, pendingDs } = store;
  if (pendingStructs === null && pendingDs === null) return undefined;
  store.pendingStructs = null;
  store.pendingDs = null;
  const parts = [pendingStructs?.update, pendingDs].filter((part): part is Uint8Array => part != null);
  return { update: mergedInSteps(parts), missing: pendingStructs?.missing ?? NOTHING_MISSING };
}

export function isWaitingOver({ store }: Y.Doc, missing: Missing): boolean {
  for (const [client, clock] of missing) if (clock < Y.getState(store, client)) return true;
  return false;
}

/** Yjs sorts all updates that it merges once for each of their structs. */
const MERGED_AT_ONCE = 32;

/** Merges updates of format v2. In small groups, which takes time in proportion to their size. */
export function mergedInSteps(updates: readonly Uint8Array[]): Uint8Array {
  let level = updates;
  while (level.length > 1) {
    const groups: Uint8Array[] = [];
    for (let at = 0; at < level.length; at += MERGED_AT_ONCE) groups.push(Y.mergeUpdatesV2(level.slice(at, at + MERGED_AT_ONCE)));
    level = groups;
  }
  const [merged] = level;
  if (merged === undefined) throw new TypeError('nothing to merge');
  return merged;
}
