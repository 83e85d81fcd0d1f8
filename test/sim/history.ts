/** What the clients of a simulation saw, and whether the guarantees held. */
import type { Change } from '../../actors/ports.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import type { MemoryStore } from './memory-store.ts';

/** One call: when it was made and answered, in ms and as the number of changes of its artifact that were durable then. */
export interface Span {
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
  /** INTERNAL_ERROR: promised to have changed nothing. `value` is what it tried to write. */
  | { readonly kind: 'poisoned'; readonly value: string }
  /** UNAVAILABLE or OWNER_MOVED: it may have happened or not. */
  | { readonly kind: 'unknown' };

export type Entry = Span & { readonly seen: Seen };

/** Every guarantee that was broken, in words; empty when all held. */
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
      else replayed.delete(change.key);
    });
    const stored = new Map([...artifact.keys].map(([key, { value }]) => [key, value]));
    if (JSON.stringify([...replayed].sort()) !== JSON.stringify([...stored].sort())) broken.push(`${id}: what is stored is not its log`);
  }
  return broken;
}

/** A change that a call reports must be in the log, have been made while the call ran, and have been durable when it was answered. */
function contradiction(entry: Entry, log: readonly Change[]): string | undefined {
  const { seen, key } = entry;
  switch (seen.kind) {
    case 'wrote': {
      if (!isDurable(entry, log, seen.seq, seen.value)) return 'an acknowledged write is lost';
      if (seen.onlyIf !== undefined && before(log, key, seen.seq)?.seq !== seen.onlyIf) return 'a conditional write went over another';
      return seen.seq <= entry.askedAt ? 'a write took a place that was taken' : undefined;
    }
    case 'added': {
      const change = durable(entry, log, seen.seq);
      if (change?.kind !== 'json.put' || change.key !== key || change.value !== String(seen.sum))
        return 'an acknowledged increment is lost';
      const previous = before(log, key, seen.seq);
      return seen.sum === Number(previous?.value ?? 0) + 1 ? undefined : 'an increment did not count what was there';
    }
    case 'deleted':
      return sometime(entry, (at) => log[at]?.kind === 'json.delete' && log[at]?.key === key)
        ? undefined
        : 'an acknowledged delete is lost';
    case 'read': {
      const isThere = sometime(entry, (at) => {
        const current = before(log, key, at + 1);
        return current?.seq === seen.seq && current.value === seen.value && !isOver(current, entry.askedMs);
      });
      return isThere ? undefined : 'a reader saw what was not there';
    }
    case 'absent': {
      const isAbsent = sometime(entry, (at) => {
        const current = before(log, key, at + 1);
        return current === undefined || isOver(current, entry.answeredMs);
      });
      return isAbsent ? undefined : 'a reader missed what was there';
    }
    case 'conflict': {
      const wasThere = sometime(entry, (at) => before(log, key, at + 1)?.seq === seen.seq);
      return seen.seq === undefined || wasThere ? undefined : 'a conflict named what was not there';
    }
    case 'poisoned':
      return log.some((change) => change.kind === 'json.put' && change.value === seen.value) ? 'a refused write was stored' : undefined;
    case 'unknown':
      return undefined;
    default:
      return seen satisfies never;
  }
}

/** Whether the write that a call reports was in the log when the call was answered. */
function isDurable(entry: Entry, log: readonly Change[], seq: number, value: string): boolean {
  const change = seq <= entry.answeredAt ? log[seq - 1] : undefined;
  return change?.kind === 'json.put' && change.key === entry.key && change.value === value;
}

/** Whether it holds after some number of changes between question and answer. */
function sometime(entry: Entry, holds: (changes: number) => boolean): boolean {
  for (let at = entry.askedAt; at <= entry.answeredAt; at += 1) if (holds(at)) return true;
  return false;
}

type Put = Extract<Change, { kind: 'json.put' }>;

/** What the key held just before change `seq`; undefined when it did not exist. */
function before(log: readonly Change[], key: string, seq: number): Put | undefined {
  for (let at = seq - 2; at >= 0; at -= 1) {
    const change = log[at];
    if (change?.key === key) return change.kind === 'json.put' ? change : undefined;
  }
  return undefined;
}

function isOver(put: Put, atMs: number): boolean {
  return put.expiresAtMs !== null && put.expiresAtMs <= atMs;
}
