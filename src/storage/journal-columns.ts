/** A group commit as columns for `unnest`, one array each. Changes that a later one of the same commit overwrites are left out. */
import { type Change, changeTypeOf, type KindName } from '../../actors/kinds.ts';
import type { ArtifactBatch, RunMark } from '../../actors/runtime/store.ts';
import type { JournalStatement } from './journal-statement.ts';
import { columnsOf, STORED_TYPES } from './live/kinds.ts';
import type { Deletion, Graves, KindColumns } from './live/live-kind.ts';

export class JournalColumns {
  readonly artifacts = { ids: [] as string[], epochs: [] as number[], seqs: [] as number[] };
  /** Only the kinds that changed, so that unchanged kinds add no cost to a commit. */
  readonly #kinds: { [T in KindName]?: KindColumns<Change> } = {};
  readonly #tombstones = new Tombstones();
  readonly #marks = new RunMarks();

  constructor(batches: readonly ArtifactBatch[]) {
    for (const batch of batches) this.#addBatch(batch);
  }

  /** The parts of the statement that write the columns. `owned` maps the number of a batch to its artifact. */
  parts(statement: JournalStatement): string {
    let text = '';
    for (const type of STORED_TYPES) text += this.#kinds[type]?.parts(statement) ?? '';
    return text + this.#tombstones.part(statement) + this.#marks.part(statement);
  }

  #addBatch({ artifactId, epoch, changes, marks }: ArtifactBatch): void {
    this.artifacts.ids.push(artifactId);
    const artifact = this.artifacts.ids.length;
    this.artifacts.epochs.push(epoch);
    if (marks !== undefined) this.#marks.add(artifact, marks);
    const last = changes.at(-1);
    if (last === undefined) throw new TypeError(`an empty batch of ${artifactId}`);
    this.artifacts.seqs.push(last.seq);
    const type = changeTypeOf(last);
    if (changes.every((change) => changeTypeOf(change) === type)) this.#of(type).add(artifact, changes);
    else for (const [each, own] of byType(changes)) this.#of(each).add(artifact, own);
  }

  #of(type: KindName): KindColumns<Change> {
    let columns = this.#kinds[type];
    if (columns === undefined) {
      columns = columnsOf(type, this.#tombstones);
      this.#kinds[type] = columns;
    }
    return columns;
  }
}

function byType(changes: readonly Change[]): ReadonlyMap<KindName, readonly Change[]> {
  const types = new Map<KindName, Change[]>();
  for (const change of changes) {
    const type = changeTypeOf(change);
    const own = types.get(type);
    if (own === undefined) types.set(type, [change]);
    else own.push(change);
  }
  return types;
}

class Tombstones implements Graves {
  readonly #artifacts: number[] = [];
  readonly #seqs: number[] = [];
  readonly #kinds: string[] = [];
  readonly #names: string[] = [];
  readonly #rowIds: (string | null)[] = [];
  readonly #times: number[] = [];

  bury(artifact: number, { seq, kind, atMs }: Deletion, name: string, rowId: string | null): void {
    this.#artifacts.push(artifact);
    this.#seqs.push(seq);
    this.#kinds.push(kind);
    this.#names.push(name);
    this.#rowIds.push(rowId);
    this.#times.push(atMs);
  }

  part(statement: JournalStatement): string {
    if (this.#seqs.length === 0) return '';
    return `, buried as (
      insert into tombstone (artifact_id, seq, kind, name, row_id, at_ms)
      select owned.id, t.seq, t.kind, t.name, t.row_id, t.at
      from unnest(
        ${statement.bigints(this.#artifacts)}, ${statement.bigints(this.#seqs)}, ${statement.texts(this.#kinds)}, ${statement.texts(this.#names)}, ${statement.nullableTexts(this.#rowIds)}, ${statement.bigints(this.#times)}
      ) as t (artifact, seq, kind, name, row_id, at)
      join owned on owned.artifact = t.artifact
    )`;
  }
}

/** Which changes runs of jobs have made. */
class RunMarks {
  readonly #artifacts: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  readonly #runs: string[] = [];
  readonly #chains: string[] = [];

  add(artifact: number, marks: readonly RunMark[]): void {
    for (const { fromSeq, toSeq, run } of marks) {
      this.#artifacts.push(artifact);
      this.#from.push(fromSeq);
      this.#to.push(toSeq);
      this.#runs.push(run.id);
      this.#chains.push(run.chain.join());
    }
  }

  part(statement: JournalStatement): string {
    if (this.#runs.length === 0) return '';
    return `, run_marked as (
      insert into job_mark (artifact_id, from_seq, to_seq, run_id, chain)
      select owned.id, m.from_seq, m.to_seq, m.run, string_to_array(m.chain, ',')
      from unnest(
        ${statement.bigints(this.#artifacts)}, ${statement.bigints(this.#from)}, ${statement.bigints(this.#to)}, ${statement.texts(this.#runs)}, ${statement.texts(this.#chains)}
      ) as m (artifact, from_seq, to_seq, run, chain)
      join owned on owned.artifact = m.artifact
    )`;
  }
}
