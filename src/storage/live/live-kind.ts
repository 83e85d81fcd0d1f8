/** What the store does for a live kind: writes its part of the group commit and reads what the actor needs. `kinds.ts` lists all kinds. */
import type { ChangeOf, KindImage, KindName, KindReads } from '../../../actors/kinds.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { JournalStatement } from '../journal-statement.ts';
import type { Sql, Transaction } from '../sql.ts';

/** A change that takes something away. */
export interface Deletion {
  readonly seq: number;
  readonly kind: string;
  readonly atMs: number;
}

/** Records deletions, so that followers can read them later. */
export interface Graves {
  /** `name` of the thing; `rowId` where it is a row of the table `name`. */
  bury(artifact: number, deletion: Deletion, name: string, rowId: string | null): void;
}

/** The rows that the changes of one kind in a group commit write, as one array per column. */
export interface KindColumns<C> {
  /**
   * `changes`: all of one artifact's, in order. Only what can still be seen after the commit is kept: a row of the database may be written
   * once in a statement. `artifact`: the artifact's number in the commit.
   */
  add(artifact: number, changes: readonly C[]): void;
  /** The parts of the statement that write them; those that have nothing to write are left out. `owned` maps a number to its artifact. */
  parts(statement: JournalStatement): string;
}

export interface StoredKind<C, Image, Reads> {
  /** Called for a commit that holds changes of the kind. */
  columns(graves: Graves): KindColumns<C>;
  /** Loads the initial state of the actor, as one of several pipelined statements. */
  load(tx: Transaction, artifactId: ArtifactId): Promise<Image>;
  /** What the actor reads later. */
  reads(sql: Sql): Reads;
}

/** As the actors' kind of that name asks for it. */
export type StoredKindOf<T extends KindName> = StoredKind<ChangeOf<T>, KindImage<T>, KindReads<T>>;
