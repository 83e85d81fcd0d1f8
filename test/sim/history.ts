/** The history that the clients of a simulation saw, and the check of the guarantees. */
import type { Change } from '../../actors/kinds.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { MemoryStore } from './memory-store.ts';

/** One call with the times of request and answer, in ms and as the number of durable changes of its artifact. */
interface Span {
  readonly artifactId: ArtifactId;
  readonly key: string;
  readonly askedMs: number;
  readonly askedAt: number;
  readonly answeredMs: number;
  readonly answeredAt: number;
}

export type Seen =
  | { readonly kind: 'wrote'; readonly seq: number; readonly value: string; readonly onlyIf: number | undefined }
  | { readonly kind: 'added'; readonly seq: number; readonly sum: number }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'read'; readonly seq: number; readonly value: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'conflict'; readonly seq: number | undefined }
  /** INTERNAL_ERROR: nothing may have changed. `value` is what the call tried to write. */
  | { readonly kind: 'poisoned'; readonly value: string }
  /** UNAVAILABLE or OWNER_MOVED: the outcome is unknown. */
  | { readonly kind: 'unknown' };

export type Entry = Span & { readonly seen: Seen };

/** Descriptions of the broken guarantees; empty when all held. */
export function brokenGuarantees(history: readonly Entry[], store: MemoryStore): string[] {
  const broken = [...store.violations];
  for (const entry of history) {
    const why = contradiction(entry, store.of(entry.artifactId).log);
    if (why !== undefined) broken.push(`${why}: ${JSON.stringify(entry)}`);
  }
  for (const [id, artifact] of store.artifacts) {
    const replayed = new Map<string, string>();
    artifact.log.forEach((change, index) => {
      if (change.seq !== index + 1) broken.push(`${id}: change ${change.seq} stands at ${index + 1}`);
      if (change.kind === 'json.put') replayed.set(change.key, change.value);
      if (change.kind === 'json.delete') replayed.delete(change.key);
    });
    const stored = new Map([...artifact.keys].map(([key, { value }]) => [key, value]));
    if (JSON.stringify([...replayed].sort()) !== JSON.stringify([...stored].sort()))
      broken.push(`${id}: the stored state is not the state of its log`);
  }
  return broken;
}

/** A change that a call reports must be in the log, must have been made during the call, and must have been durable at the answer. */
function contradiction(entry: Entry, log: readonly Change[]): string | undefined {
  const { seen, key } = entry;
  const atSomeTime = (holds: (current: Put | undefined) => boolean) => sometime(entry, (at) => holds(before(log, key, at + 1)));
  switch (seen.kind) {
    case 'wrote':
      return contradictionOfWrite(entry, seen, log);
    case 'added':
      if (!isDurable(entry, log, seen.seq, String(seen.sum))) return 'an acknowledged increment is lost';
      return seen.sum === Number(before(log, key, seen.seq)?.value ?? 0) + 1 ? undefined : 'an increment did not count what was there';
    case 'deleted':
      return sometime(entry, (at) => isDelete(log[at], key)) ? undefined : 'an acknowledged delete is lost';
    case 'read':
      return atSomeTime((current) => isSame(current, seen) && !isOver(current, entry.askedMs))
        ? undefined
        : 'a reader saw what was not there';
    case 'absent':
      return atSomeTime((current) => current === undefined || isOver(current, entry.answeredMs))
        ? undefined
        : 'a reader missed what was there';
    case 'conflict':
      return seen.seq === undefined || atSomeTime((current) => current?.seq === seen.seq)
        ? undefined
        : 'a conflict named what was not there';
    case 'poisoned':
      return log.some((change) => change.kind === 'json.put' && change.value === seen.value) ? 'a refused write was stored' : undefined;
    case 'unknown':
      return undefined;
    default:
      return seen satisfies never;
  }
}

function contradictionOfWrite(entry: Entry, seen: Extract<Seen, { kind: 'wrote' }>, log: readonly Change[]): string | undefined {
  if (!isDurable(entry, log, seen.seq, seen.value)) return 'an acknowledged write is lost';
  if (seen.seq <= entry.askedAt) return 'a write has the seq of an earlier change';
  const isAsWanted = seen.onlyIf === undefined || before(log, entry.key, seen.seq)?.seq === seen.onlyIf;
  return isAsWanted ? undefined : 'a conditional write overwrote another change';
}

/** Whether the write that a call reports was durable when the call was answered. */
function isDurable(entry: Entry, log: readonly Change[], seq: number, value: string): boolean {
  const change = seq <= entry.answeredAt ? log[seq - 1] : undefined;
  return change?.kind === 'json.put' && change.key === entry.key && change.value === value;
}

function isDelete(change: Change | undefined, key: string): boolean {
  return change?.kind === 'json.delete' && change.key === key;
}

function isSame(current: Put | undefined, seen: { readonly seq: number; readonly value: string }): current is Put {
  return current?.seq === seen.seq && current.value === seen.value;
}

/** Whether it held at some state between request and answer. */
function sometime(entry: Entry, holds: (changes: number) => boolean): boolean {
  for (let at = entry.askedAt; at <= entry.answeredAt; at += 1) if (holds(at)) return true;
  return false;
}

type Put = Extract<Change, { kind: 'json.put' }>;

/** The value of the key just before change `seq`; undefined when it did not exist. */
function before(log: readonly Change[], key: string, seq: number): Put | undefined {
  for (let at = seq - 2; at >= 0; at -= 1) {
    const change = log[at];
    if (isDelete(change, key)) return undefined;
    if (change?.kind === 'json.put' && change.key === key) return change;
  }
  return undefined;
}

function isOver(put: Put, atMs: number): boolean {
  return put.expiresAtMs !== null && put.expiresAtMs <= atMs;
}
