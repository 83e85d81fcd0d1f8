/** The history of blobs and batches that the clients of a simulation saw, and the check of the guarantees. */
import type { Change } from '../../actors/kinds.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { MemoryStore } from './memory-store.ts';

/** Request and answer are dated by the number of durable changes of the artifact. */
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
  /** UNAVAILABLE, OWNER_MOVED or INTERNAL_ERROR: the outcome is unknown; a batch still happens as a whole. */
  | { readonly kind: 'unknown'; readonly tokens: readonly string[] };

/** Sizes in bytes by blob id. */
export type Sizes = ReadonlyMap<string, number>;

interface State {
  readonly sizes: Sizes;
  readonly usedBytes: number;
}

/** Descriptions of the broken guarantees; empty when all held. `before`: sizes of the blobs before the first change. */
export function brokenMixed(history: readonly MixedEntry[], store: MemoryStore, before: ReadonlyMap<ArtifactId, Sizes>): string[] {
  const broken: string[] = [];
  const states = new Map<ArtifactId, readonly State[]>();
  for (const [id, { log, blobs }] of store.artifacts) {
    const ofArtifact = statesOf(log, before.get(id) ?? new Map());
    states.set(id, ofArtifact);
    broken.push(...ofArtifact.flatMap(overQuota).map((why) => `${id}: ${why}`));
    const stored = [...blobs.values()].map(({ id: blobId, sizeBytes }) => `${blobId} ${sizeBytes}`);
    const replayed = [...(ofArtifact.at(-1)?.sizes ?? [])].map(([blobId, sizeBytes]) => `${blobId} ${sizeBytes}`);
    if (stored.sort().join() !== replayed.sort().join()) broken.push(`${id}: the stored blobs are not those of its log`);
  }
  for (const entry of history) {
    const why = contradiction(entry, store.of(entry.artifactId).log, states.get(entry.artifactId) ?? []);
    if (why !== undefined) broken.push(`${why}: ${JSON.stringify(entry)}`);
  }
  return broken;
}

/** The blobs of an artifact before its first change, after it, and so on. */
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
      return partOf(seen.tokens, log.slice(askedAt, answeredAt)) === 'all'
        ? undefined
        : 'an acknowledged batch is lost as a whole or in part';
    case 'refused':
      return partOf(seen.tokens, log) === 'none' || seen.tokens.length === 0
        ? undefined
        : 'a refused batch was stored as a whole or in part';
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

/** How much of a batch is in the log; `all` only where its changes are consecutive. */
function partOf(tokens: readonly string[], log: readonly Change[]): 'all' | 'some' | 'none' {
  const places = log.flatMap((change, at) => (tokens.includes(tokenOf(change) ?? '') ? [at] : []));
  const [first] = places;
  const last = places.at(-1);
  if (first === undefined || last === undefined) return tokens.length === 0 ? 'all' : 'none';
  // These change kinds come with others: the first row creates its table, and a new key deletes expired ones.
  const between = log.slice(first, last + 1).filter(({ kind }) => kind !== 'table.put' && kind !== 'json.delete');
  return places.length === tokens.length && between.length === tokens.length ? 'all' : 'some';
}

function tokenOf(change: Change): string | undefined {
  if (change.kind === 'json.put') return JSON.parse(change.value);
  if (change.kind === 'blob.put') return change.blobId;
  return change.kind === 'row.put' ? JSON.parse(change.data).k : undefined;
}
