/** What the clients of a simulation saw of blobs and of batches, and whether the guarantees held. */
import type { Change } from '../../actors/ports.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { MemoryStore } from './memory-store.ts';

/** Asked and answered as the number of changes of its artifact that were durable then. */
export interface MixedEntry {
  readonly artifactId: ArtifactId;
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly seen: MixedSeen;
}

type FullCode = 'FILE_TOO_LARGE' | 'BLOB_LIMIT_EXCEEDED' | 'STORAGE_LIMIT_EXCEEDED';

export type MixedSeen =
  /** A batch, and its changes by their tokens. */
  | { readonly kind: 'done'; readonly tokens: readonly string[] }
  | { readonly kind: 'refused'; readonly tokens: readonly string[] }
  | { readonly kind: 'added'; readonly blobId: string; readonly sizeBytes: number }
  | { readonly kind: 'deleted'; readonly blobId: string }
  | { readonly kind: 'absent'; readonly blobId: string }
  | { readonly kind: 'full'; readonly code: FullCode; readonly sizeBytes: number }
  | { readonly kind: 'used'; readonly count: number; readonly usedBytes: number }
  /** UNAVAILABLE, OWNER_MOVED or INTERNAL_ERROR: it may have happened or not; a batch as a whole. */
  | { readonly kind: 'unknown'; readonly tokens: readonly string[] };

/** Blobs and their sizes. */
export type Sizes = ReadonlyMap<string, number>;

interface State {
  readonly sizes: Sizes;
  readonly usedBytes: number;
}

/** Every guarantee that was broken, in words; empty when all held. `before`: the sizes of the blobs that were there before the first change. */
export function brokenMixed(history: readonly MixedEntry[], store: MemoryStore, before: ReadonlyMap<ArtifactId, Sizes>): string[] {
  const broken: string[] = [];
  const states = new Map<ArtifactId, readonly State[]>();
  for (const [id, { log, blobs }] of store.artifacts) {
    const ofArtifact = statesOf(log, before.get(id) ?? new Map());
    states.set(id, ofArtifact);
    broken.push(...ofArtifact.flatMap(overQuota).map((why) => `${id}: ${why}`));
    const stored = [...blobs.values()].map(({ id: blobId, sizeBytes }) => `${blobId} ${sizeBytes}`);
    const replayed = [...(ofArtifact.at(-1)?.sizes ?? [])].map(([blobId, sizeBytes]) => `${blobId} ${sizeBytes}`);
    if (stored.sort().join() !== replayed.sort().join()) broken.push(`${id}: the blobs that are stored are not its log`);
  }
  for (const entry of history) {
    const why = contradiction(entry, store.of(entry.artifactId).log, states.get(entry.artifactId) ?? []);
    if (why !== undefined) broken.push(`${why}: ${JSON.stringify(entry)}`);
  }
  return broken;
}

/** The blobs before the first change of their artifact, after it, and so on. */
function statesOf(log: readonly Change[], before: Sizes): State[] {
  let state = stateOf(before);
  const states = [state];
  for (const change of log) {
    if (change.kind === 'blob.put') state = stateOf(new Map(state.sizes).set(change.blobId, change.sizeBytes));
    if (change.kind === 'blob.delete') state = stateOf(new Map([...state.sizes].filter(([blobId]) => blobId !== change.blobId)));
    states.push(state);
  }
  return states;
}

function stateOf(sizes: Sizes): State {
  return { sizes, usedBytes: [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0) };
}

function overQuota({ sizes, usedBytes }: State): string[] {
  const broken: string[] = [];
  if (sizes.size > LIMITS.blobsMax) broken.push(`${sizes.size} blobs`);
  if (usedBytes > LIMITS.blobsBytesMax) broken.push(`${usedBytes} bytes of blobs`);
  if ([...sizes.values()].some((bytes) => bytes > LIMITS.blobBytesMax)) broken.push('a blob that is too large');
  return broken;
}

function refuses({ sizes, usedBytes }: State, sizeBytes: number): FullCode | undefined {
  if (sizeBytes > LIMITS.blobBytesMax) return 'FILE_TOO_LARGE';
  if (sizes.size >= LIMITS.blobsMax) return 'BLOB_LIMIT_EXCEEDED';
  return usedBytes + sizeBytes > LIMITS.blobsBytesMax ? 'STORAGE_LIMIT_EXCEEDED' : undefined;
}

function contradiction({ seen, askedAt, answeredAt }: MixedEntry, log: readonly Change[], states: readonly State[]): string | undefined {
  const sometime = (holds: (state: State, at: number) => boolean): boolean => {
    for (let at = askedAt; at <= answeredAt; at += 1) {
      const state = states[at];
      if (state !== undefined && holds(state, at)) return true;
    }
    return false;
  };
  const isChange = (kind: Change['kind'], blobId: string, at: number) => {
    const change = at < answeredAt ? log[at] : undefined;
    return change?.kind === kind && 'blobId' in change && change.blobId === blobId;
  };
  switch (seen.kind) {
    case 'done':
      return partOf(seen.tokens, log.slice(askedAt, answeredAt)) === 'all' ? undefined : 'an acknowledged batch is lost, or some of it';
    case 'refused':
      return partOf(seen.tokens, log) === 'none' || seen.tokens.length === 0 ? undefined : 'a refused batch was stored, or some of it';
    case 'unknown':
      return partOf(seen.tokens, log) === 'some' ? 'some of a batch was stored, and some not' : undefined;
    case 'added':
      return sometime((_state, at) => isChange('blob.put', seen.blobId, at)) ? undefined : 'an acknowledged blob is lost';
    case 'deleted':
      return sometime((_state, at) => isChange('blob.delete', seen.blobId, at)) ? undefined : 'an acknowledged delete is lost';
    case 'absent':
      return sometime(({ sizes }) => !sizes.has(seen.blobId)) ? undefined : 'a blob was missed that was there';
    case 'full':
      return sometime((state) => refuses(state, seen.sizeBytes) === seen.code) ? undefined : 'a blob was refused that had room';
    case 'used':
      return sometime(({ sizes, usedBytes }) => sizes.size === seen.count && usedBytes === seen.usedBytes)
        ? undefined
        : 'a reader saw what was not there';
    default:
      return seen satisfies never;
  }
}

/** How much of a batch is in the log: all of it only where nothing else came in between. */
function partOf(tokens: readonly string[], log: readonly Change[]): 'all' | 'some' | 'none' {
  const places = log.flatMap((change, at) => (tokens.includes(tokenOf(change) ?? '') ? [at] : []));
  const [first] = places;
  const last = places.at(-1);
  if (first === undefined || last === undefined) return tokens.length === 0 ? 'all' : 'none';
  // The first row of a table makes the table, and a new key takes away those that have expired.
  const between = log.slice(first, last + 1).filter(({ kind }) => kind !== 'table.put' && kind !== 'json.delete');
  return places.length === tokens.length && between.length === tokens.length ? 'all' : 'some';
}

function tokenOf(change: Change): string | undefined {
  if (change.kind === 'json.put') return JSON.parse(change.value);
  if (change.kind === 'blob.put') return change.blobId;
  return change.kind === 'row.put' ? JSON.parse(change.data).k : undefined;
}
