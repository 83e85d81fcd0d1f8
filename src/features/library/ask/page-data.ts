/**
 * What the tables and datasets of a page say about the questions. Rows are read a page or a block at a time, each in its turn with the reads of
 * the data API, and only up to a bound; of each table or dataset one piece is kept.
 */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { loopTurns } from '../../../platform/loop-turns.ts';
import type { DatasetLines } from '../../data/datasets/lines.ts';
import { EVERYTHING } from '../../data/tables/queries/filter.ts';
import type { ReadHolders, TableReads } from '../../data/tables/reads.ts';
import type { Queries } from '../../deps.ts';
import { type Questions, RowPicker } from './row-picker.ts';
import { type DataFacts, listDatasetFacts, listTableFacts, type TableFacts } from './rows.ts';

export interface Piece {
  readonly heading: string;
  readonly text: string;
  /** What of it counts as its own words. */
  readonly words: string;
}

export interface PageDataDeps {
  readonly sql: Queries;
  readonly tables: Pick<TableReads, 'run'>;
  readonly datasets: Pick<DatasetLines, 'find' | 'blocks'>;
}

export interface DataSought {
  readonly artifactId: ArtifactId;
  readonly questions: Questions;
  readonly holders: ReadHolders;
  readonly ended: AbortSignal;
}

/** Rows and bytes of one read of a table. */
const PAGE_ROWS = 500;
const PAGE_BYTES = 128 * 1024;
const COLUMNS_CHARS_MAX = 600;

/** A table or dataset whose rows can be read. */
interface Readable {
  readonly heading: string;
  /** What there is, before its rows. */
  readonly about: string;
  readonly words: string;
  readonly rows: number;
  readonly pages: () => AsyncIterable<readonly string[]>;
}

export class PageData {
  readonly #deps: PageDataDeps;

  constructor(deps: PageDataDeps) {
    this.#deps = deps;
  }

  async find(sought: DataSought): Promise<Piece[]> {
    const { sql } = this.#deps;
    const { artifactId, questions, holders, ended } = sought;
    const tables = mostFitting(questions, await listTableFacts(sql, artifactId)).map((facts) => this.#table(sought, facts));
    const datasets: Readable[] = [];
    for (const { name } of mostFitting(questions, await listDatasetFacts(sql, artifactId))) {
      const dataset = await this.#dataset(sought, name);
      if (dataset !== undefined) datasets.push(dataset);
    }
    const pieces: Piece[] = [];
    // The small ones first: what they leave of their shares the others may take.
    const readable = [...tables, ...datasets].sort((one, other) => one.rows - other.rows);
    let bytesLeft: number = LIMITS.agentScanBytesMax;
    for (const [at, one] of readable.entries()) {
      const picker = new RowPicker(questions);
      bytesLeft -= await scan(one, picker, bytesLeft / (readable.length - at), { lane: holders.network ?? '', ended });
      pieces.push(pieceOf(one, picker));
    }
    return pieces;
  }

  #table({ artifactId, holders, ended }: DataSought, { name, storedAs, rows }: TableFacts): Readable {
    const { tables } = this.#deps;
    const scope = { artifactId, table: storedAs, schema: null, rowCount: rows };
    async function* pages() {
      for (let after = 0; ; ) {
        ended.throwIfAborted();
        const bounds = { after, rowsMax: PAGE_ROWS, bytesMax: PAGE_BYTES };
        const page = await tables.run(holders, (reads) => reads.matchingRows(scope, EVERYTHING, bounds));
        yield page.map(({ data }) => data);
        const last = page.at(-1);
        if (last === undefined) return;
        after = last.createdSeq;
      }
    }
    return { heading: `table ${name}`, about: `Table ${name} with ${rows} rows.`, words: '', rows, pages };
  }

  async #dataset({ artifactId, holders, ended }: DataSought, name: string): Promise<Readable | undefined> {
    const { datasets } = this.#deps;
    const stored = await datasets.find(artifactId, name);
    if (stored === undefined) return undefined;
    const { rows, columns } = stored;
    const names = cut(columns.map((column) => `${column.name} (${column.type})`).join(', '), COLUMNS_CHARS_MAX);
    const about = `Dataset ${name} with ${rows} rows. Columns: ${names}.`;
    const words = columns.map((column) => column.name).join(' ');
    return { heading: `dataset ${name}`, about, words, rows, pages: () => datasets.blocks(stored, holders, ended) };
  }
}

/** So many that none is read in vain; those that are called as the questions say come first. */
function mostFitting<T extends DataFacts>({ own, earlier }: Questions, facts: readonly T[]): T[] {
  const fits = new Map(facts.map(({ name }) => [name, own.fit(null, name) + (earlier?.fit(null, name) ?? 0)]));
  const fitOf = ({ name }: T) => fits.get(name) ?? 0;
  return [...facts].sort((one, other) => fitOf(other) - fitOf(one)).slice(0, LIMITS.agentTablesMax);
}

/** How many bytes were looked through. It ends with the page that reaches the bound. */
async function scan(
  { pages }: Readable,
  picker: RowPicker,
  bytesMax: number,
  { lane, ended }: { readonly lane: string; readonly ended: AbortSignal },
): Promise<number> {
  let bytes = 0;
  try {
    for await (const page of pages()) {
      await loopTurns.next(lane);
      ended.throwIfAborted();
      for (const row of page) {
        picker.add(row);
        bytes += Math.max(row.length, LIMITS.agentScanRowBytesMin);
      }
      if (bytes >= bytesMax) break;
    }
  } catch (error) {
    // What was read by then is used.
    if (!(error instanceof Failure) || error.code !== 'QUERY_TOO_EXPENSIVE') throw error;
  }
  return bytes;
}

function pieceOf({ heading, about, words, rows }: Readable, picker: RowPicker): Piece {
  const { fitting, first } = picker.picked();
  const bounded = new BoundedTexts(LIMITS.agentRowsCharsMax);
  const shown = { fitting: bounded.take(fitting), first: bounded.take(first) };
  const parts = [
    about,
    ...(picker.rows < rows ? [`Only the first ${picker.rows} rows were looked through.`] : []),
    ...(shown.fitting === '' ? [] : [`Rows with words of the question: ${shown.fitting}`]),
    ...(shown.first === '' ? [] : [`${shown.fitting === '' ? 'First' : 'Of the first'} rows: ${shown.first}`]),
  ];
  return { heading, text: parts.join(' '), words: `${words} ${shown.fitting} ${shown.first}` };
}

/** Joins whole texts while they fit. */
class BoundedTexts {
  #charsLeft: number;

  constructor(charsMax: number) {
    this.#charsLeft = charsMax;
  }

  take(texts: readonly string[]): string {
    const taken: string[] = [];
    for (const text of texts) {
      if (text.length > this.#charsLeft) break;
      this.#charsLeft -= text.length;
      taken.push(text);
    }
    return taken.join(' ');
  }
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, '')}…`;
}
