/** A MemoryStore whose answers take time and fail in every way that a remote database can. */

import type { StoredComments } from '../../actors/comments/changes.ts';
import type { StoredDocument, StoredDocumentContent } from '../../actors/documents/changes.ts';
import type { Clock } from '../../actors/runtime/ports.ts';
import type { ArtifactBatch, ArtifactImage, ArtifactStore, BatchOutcome, JournalStore } from '../../actors/runtime/store.ts';
import type { HolderQuery, StoredRow } from '../../actors/tables/changes.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { Random } from '../support/random.ts';
import type { MemoryStore } from './memory-store.ts';

/** `straggler`: the caller gets a failure first, and the commit lands (or is fenced) later. `liar`: only for the tests of the simulation itself. */
type Fate = 'ok' | 'failed' | 'landed' | 'straggler' | 'liar';

export class FaultyStore implements JournalStore, ArtifactStore {
  readonly #memory: MemoryStore;
  readonly #clock: Clock;
  readonly #callerClock: Clock;
  readonly #random: Random;
  /** Probability of a fault in each operation. */
  faults: number;
  /** Acknowledges changes before they are durable, some of which never will be. */
  lies = false;
  /** A commit that fails leaves the first half of each batch behind. */
  tears = false;

  /** `callerClock`: answers arrive by it; a caller whose process is stopped gets them later. */
  constructor(memory: MemoryStore, clock: Clock, random: Random, faults: number, callerClock: Clock = clock) {
    this.#memory = memory;
    this.#clock = clock;
    this.#callerClock = callerClock;
    this.#random = random;
    this.faults = faults;
  }

  async commit(batches: readonly ArtifactBatch[]): Promise<readonly BatchOutcome[]> {
    const fate = this.#fate();
    await this.#pass();
    if (fate === 'liar') return batches.map(() => 'committed');
    if (fate === 'failed') {
      if (this.tears) this.#memory.apply(batches.map((batch) => ({ ...batch, changes: batch.changes.slice(0, batch.changes.length / 2) })));
      throw new Error('connection refused');
    }
    if (fate === 'straggler') {
      this.#clock.after(this.#delayMs() * 10, () => this.#memory.apply(batches));
      throw new Error('time-out');
    }
    const outcomes = this.#memory.apply(batches);
    await this.#answer();
    if (fate === 'landed') throw new Error('connection lost');
    return outcomes;
  }

  async load(id: ArtifactId): Promise<ArtifactImage | null> {
    await this.#pass();
    if (this.#random.chance(this.faults / 2)) throw new Error('connection refused');
    const image = await this.#memory.load(id);
    await this.#answer();
    if (this.#random.chance(this.faults / 2)) throw new Error('connection lost');
    return image;
  }

  async readValue(id: ArtifactId, key: string, seq: number): Promise<string | null> {
    await this.#pass();
    if (this.#random.chance(this.faults)) throw new Error('connection lost');
    return this.#memory.readValue(id, key, seq);
  }

  async readRows(id: ArtifactId, table: string, rowIds: readonly string[]): Promise<readonly StoredRow[]> {
    return this.#read(() => this.#memory.readRows(id, table, rowIds));
  }

  async readHolders(id: ArtifactId, wanted: HolderQuery): Promise<readonly StoredRow[]> {
    return this.#read(() => this.#memory.readHolders(id, wanted));
  }

  async readDocuments(id: ArtifactId, epoch: number): Promise<readonly StoredDocument[] | null> {
    return this.#read(() => this.#memory.readDocuments(id, epoch));
  }

  async readDocument(id: ArtifactId, epoch: number, name: string): Promise<StoredDocumentContent | null> {
    return this.#read(() => this.#memory.readDocument(id, epoch, name));
  }

  async readComments(id: ArtifactId, epoch: number): Promise<StoredComments | null> {
    return this.#read(() => this.#memory.readComments(id, epoch));
  }

  /** Stands for a query over the committed rows of a table. */
  async readMatching(id: ArtifactId, storedAs: string, matches: (row: StoredRow) => boolean): Promise<readonly StoredRow[]> {
    return this.#read(async () => this.#memory.of(id).tables.read(storedAs).filter(matches));
  }

  /** Reads at some moment of the call; the answer may be lost. */
  async #read<T>(read: () => Promise<T>): Promise<T> {
    await this.#pass();
    if (this.#random.chance(this.faults / 2)) throw new Error('connection refused');
    const answer = await read();
    await this.#answer();
    if (this.#random.chance(this.faults / 2)) throw new Error('connection lost');
    return answer;
  }

  #fate(): Fate {
    if (this.lies && this.#random.chance(0.1)) return 'liar';
    return this.#random.chance(this.faults) ? this.#random.pick(['failed', 'landed', 'straggler'] as const) : 'ok';
  }

  #delayMs(): number {
    // Most answers are quick, some very slow.
    return this.#random.chance(0.1) ? 50 + this.#random.integer(500) : this.#random.integer(8);
  }

  #pass(): Promise<void> {
    return new Promise((resolve) => this.#clock.after(this.#delayMs(), resolve));
  }

  #answer(): Promise<void> {
    return new Promise((resolve) => this.#callerClock.after(this.#delayMs(), resolve));
  }
}
