/** Defines a kind of live data: a part of the actor, and the changes it writes to the journal. `actors/kinds.ts` lists all kinds. */
import type { ArtifactId } from '../../protocol/core/ids.ts';

export type Numbered<C> = C & { readonly seq: number };

/** What a part needs of its actor. */
export interface Ledger<C> {
  readonly id: ArtifactId;
  /** Seq of the last change; the next change takes `seq + 1`. */
  readonly seq: number;
  readonly committedSeq: number;
  /** Throws UNAVAILABLE when no more changes are taken. Called before the first change of a turn. */
  admit(): void;
  record(change: Numbered<C>): void;
  /** Takes work out of the budget of the turn, before it is done. Throws REQUEST_TOO_EXPENSIVE. `TurnWork.spend` has the units. */
  spend(bytes: number, operation: string, param?: string): void;
}

/** What an actor needs of each of its parts. */
export interface LivePart {
  /** An estimate from above, in bytes of memory. Asked for after every turn. */
  readonly residentBytes: number;
  /** Called after a commit: evicts what was kept only because it was uncommitted. */
  trim?(): void;
  /** Called at each sweep of the runtime: evicts what is no longer in use. */
  sweep?(): void;
}

interface AnyChange {
  readonly kind: string;
}

/** `deletion`: the store keeps a tombstone, so that followers that catch up later see the deletion. */
type Effect = 'put' | 'deletion';

export interface KindChanges<C extends AnyChange> {
  /** All changes of this kind. */
  readonly changes: Readonly<Record<C['kind'], Effect>>;
  /** What a change weighs in memory beside its names and numbers. */
  valueBytes(change: C): number;
}

/** A kind whose part is made with its actor. `Image`: what loading the actor reads of it. */
export interface RestoredKind<C extends AnyChange, Image, Deps, Part extends LivePart> extends KindChanges<C> {
  restore(deps: Deps, image: Image): Part;
}

/** A kind that most artifacts do not use: its part is created on first access. */
export interface OpenedKind<C extends AnyChange, Deps, Part extends LivePart> extends KindChanges<C> {
  open(deps: Deps): Part;
}

/** The part of a kind's definition that generic code uses for every kind alike. */
export interface EachKind<C> {
  readonly changes: Readonly<Record<string, Effect>>;
  valueBytes(change: C): number;
}

export type AnyKind = RestoredKind<AnyChange, never, never, LivePart> | OpenedKind<AnyChange, never, LivePart>;

/** What follows from a kind, or from a union of kinds. */
export type ChangesOf<K> = K extends KindChanges<infer C> ? C : never;
export type PartOf<K> = K extends { restore(deps: never, image: never): infer Part } | { open(deps: never): infer Part } ? Part : never;
export type ImageOf<K> = All<K extends { restore(deps: never, image: infer Image): LivePart } ? Image : object>;
export type DepsOf<K> = All<OneDeps<K>>;
export type ReadsOf<K> = All<OneDeps<K> extends { readonly store: infer Reads } ? Reads : object>;

type OneDeps<K> = K extends { restore(deps: infer Deps, image: never): LivePart } | { open(deps: infer Deps): LivePart } ? Deps : never;
/** The intersection of the members of a union. */
type All<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;
