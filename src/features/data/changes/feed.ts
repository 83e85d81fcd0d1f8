/** How changes of a live kind become events, from a commit and from the store. `kinds.ts` lists the feeds of all kinds. */
import type { Change } from '../../../../actors/kinds.ts';
import type { Need } from '../../../../protocol/core/endpoint.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { ChangeKind, ChangeType } from '../../../../protocol/data/changes.ts';
import type { Queries, Statement } from '../../../storage/sql.ts';

/** A change in the form that both sources, the actor and the store, provide. */
export interface ChangedThing {
  readonly seq: number;
  readonly kind: ChangeKind;
  /** The key, the name of the table or document, or the id of the blob or comment. */
  readonly name: string;
  readonly rowId: string | null;
  /** JSON text; null if it is left out, or if the event needs only the name. */
  readonly data: string | null;
  readonly atMs: number;
  /** Only set for rows, whose data does not include it. */
  readonly createdAtMs?: number;
}

export interface ChangesWanted {
  readonly sinceSeq: number;
  readonly types: readonly ChangeType[];
  /** Whether to include things whose name begins with `_`. */
  readonly reserved: boolean;
  readonly limit: number;
  /** Unix ms; keys that have expired by then are left out. */
  readonly nowMs: number;
}

/** The stored state of an existing thing, or the tombstone of a deleted one. */
export interface StoredThing<Kind, More> {
  readonly seq: number;
  /** The kind of change that results in this state. */
  readonly kind: Kind;
  readonly name: string;
  readonly row_id: string | null;
  readonly data: string | null;
  readonly at_ms: number;
  readonly created_at_ms: number | null;
  /** Further columns that its kind selects, as JSON; null for a deletion, like `data` and `created_at_ms`. */
  readonly more: More;
}

/** `C`: the changes of the kind; `More`: what the kind selects in addition to the common columns. */
export interface Feed<C extends Pick<Change, 'kind'> = Change, More = unknown> {
  /** The access that following this kind requires. */
  readonly need: Need;
  /** The field of an event that holds the name of the thing. */
  readonly named: 'key' | 'table' | 'id' | 'name';
  /** Kinds of events that need only the name and carry no data. */
  readonly withoutData: readonly ChangeKind[];
  /** Things whose name begins with `_` are only visible to the owner and editors. */
  readonly hasReserved?: true;
  /** Whether the change affects settings. Followers do not receive it, but their access is checked again. */
  isSetting?(change: C): boolean;
  /** The name by which changes in one commit are merged, keeping the last one; undefined for a change that is always sent. */
  lastOf?(change: C): string | undefined;
  /** Not called for settings. */
  thingOf(change: C): ChangedThing;
  /**
   * Statements that select what changed after a seq, at most limit + 1 and in order of seq. Each has the columns of
   * `StoredThing`, in that order, with null for those that do not apply.
   */
  stored(sql: Queries, id: ArtifactId, wanted: ChangesWanted): readonly Statement[];
  thingOfStored(stored: StoredThing<C['kind'], More>): ChangedThing;
}

/** Longer data is left out of an event. */
export const DATA_BYTES_MAX = LIMITS.changeValueBytesMax;

/** A change without data. */
export function bareThing(seq: number, kind: ChangeKind, name: string, atMs: number, rowId: string | null = null): ChangedThing {
  return { seq, kind, name, rowId, data: null, atMs };
}
