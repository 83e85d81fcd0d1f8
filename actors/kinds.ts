/** The live kinds of an artifact. Everything that the runtime knows of them follows from this list. */
import type { ChangeType } from '../protocol/data/changes.ts';
import { blobsKind } from './blobs/kind.ts';
import { commentsKind } from './comments/kind.ts';
import { documentsKind } from './documents/kind.ts';
import { jsonKind } from './json/kind.ts';
import type { AnyKind, ChangesOf, DepsOf, EachKind, ImageOf, Numbered, ReadsOf } from './runtime/live-kind.ts';
import { tablesKind } from './tables/kind.ts';

/** An actor has each part under this name: `actor.json`, `actor.tables` and so on. */
export const LIVE_KINDS = {
  json: jsonKind,
  tables: tablesKind,
  blobs: blobsKind,
  comments: commentsKind,
  documents: documentsKind,
} satisfies Readonly<Record<ChangeType, AnyKind>>;

type Kinds = typeof LIVE_KINDS;
export type KindName = keyof Kinds;
type AllKinds = Kinds[KindName];

/** One change of an artifact, numbered by its actor. `seq` rises by one with every change of that artifact. */
export type Change = ChangeOf<KindName>;
/** One change of a live kind. */
export type ChangeOf<T extends KindName> = Numbered<ChangesOf<Kinds[T]>>;
/** What a part starts from; without a name, what all of them do. */
export type KindImage<T extends KindName = KindName> = ImageOf<Kinds[T]>;
/** What the store reads for a live kind after its actor was loaded; `object` where that is nothing. */
export type KindReads<T extends KindName> = ReadsOf<Kinds[T]>;
type KindDeps = DepsOf<AllKinds>;
/** What the parts need of the outside. */
export type KindPorts = Omit<KindDeps, 'ledger'>;

const EACH: Readonly<Record<KindName, EachKind<ChangesOf<AllKinds>>>> = LIVE_KINDS;
const TYPES = Object.fromEntries(
  Object.entries(EACH).flatMap(([type, { changes }]) => Object.keys(changes).map((kind) => [kind, type])),
) as Readonly<Record<Change['kind'], KindName>>;

/** The live kind that a change belongs to. */
export function changeTypeOf(change: Pick<Change, 'kind'>): KindName {
  return TYPES[change.kind];
}

/** What a change weighs in memory beside its names and numbers. */
export function valueBytes(change: Change): number {
  return EACH[TYPES[change.kind]].valueBytes(change);
}

/** The changes of a live kind that take something away; the store keeps a tombstone of each. */
export function deletionsOf(type: KindName): readonly string[] {
  return Object.entries(EACH[type].changes).flatMap(([kind, effect]) => (effect === 'deletion' ? [kind] : []));
}
