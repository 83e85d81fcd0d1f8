/** The world of a rehearsal: reads see the real artifact and what the script has changed of it; the changes stay here. */
import type { Clock } from '../../../../actors/runtime/ports.ts';
import type { StoredRow } from '../../../../actors/tables/changes.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { failureAnswer } from '../../../edge/failures.ts';
import { EgressFailure } from '../../../egress/failure.ts';
import { systemClock } from '../../../platform/clock.ts';
import { rowJson } from '../../data/tables/row-json.ts';
import { type DataRequest, readRequest } from './rehearsal/data-requests.ts';
import { type Change, PrivateArtifact } from './rehearsal/private-artifact.ts';
import { RealReads, Refused, type Viewer } from './rehearsal/real-reads.ts';
import { TableReads } from './rehearsal/table-reads.ts';
import type { ScriptWorld, WorldCall, WorldFetch, WorldFetched, WorldReply } from './world.ts';

export interface WouldWrite {
  readonly channel: 'json' | 'tables';
  /** A key, or a table and the id of a row: orders/row_1. */
  readonly name: string;
  /** Null where there was nothing. */
  readonly before: unknown;
  /** Null where it would be deleted. */
  readonly after: unknown;
}

export interface Would {
  readonly write: WouldWrite[];
  readonly call: { readonly method: string; readonly url: string }[];
}

type Known = { readonly channel: 'json'; readonly key: string; readonly before: unknown } | RowWritten;
type RowWritten = { readonly channel: 'tables'; readonly table: string; readonly rowId: string; readonly before: unknown };

export class RehearsalWorld implements ScriptWorld {
  readonly #real: Pick<ScriptWorld, 'call'>;
  readonly #reads: RealReads;
  readonly #artifact: PrivateArtifact;
  readonly #tableReads: TableReads;
  /** Keys that are held here, or of which it is known that the real artifact has none. */
  readonly #keys = new Set<string>();
  readonly #tables = new Set<string>();
  /** What was written first of each key and row, in that order. */
  readonly #written = new Map<string, Known>();
  readonly #calls: { readonly method: string; readonly url: string }[] = [];
  #viewer: Promise<Viewer> | undefined;
  /** Keys of the real artifact that are not held here. */
  #otherKeys: number | undefined;
  #otherTables: number | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** Only reads are sent to `real`. */
  constructor(real: Pick<ScriptWorld, 'call'>, clock: Clock = systemClock) {
    this.#real = real;
    this.#reads = new RealReads(real);
    this.#artifact = new PrivateArtifact(clock, (change, before) => this.#note(change, before));
    this.#tableReads = new TableReads(this.#artifact);
  }

  /** One after the other, so that what one loads is there for the next. */
  call(call: WorldCall): Promise<WorldReply> {
    const reply = this.#last.then(() => this.#answer(call));
    this.#last = reply.catch(() => undefined);
    return reply;
  }

  /** Nothing is sent; the script gets an empty answer that says so. */
  async fetch({ method, url }: WorldFetch): Promise<WorldFetched> {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new EgressFailure('invalid', 'The address must begin with http:// or https://.');
    }
    this.#calls.push({ method, url });
    return { status: 200, headers: { 'x-easel-rehearsal': '1' }, body: '', url };
  }

  /** What the script would have changed and called so far. What it made and removed again is left out. */
  would(): Would {
    const write = [...this.#written.values()].map((one): WouldWrite => {
      const { channel, before } = one;
      const name = channel === 'json' ? one.key : `${one.table}/${one.rowId}`;
      return { channel, name, before, after: channel === 'json' ? this.#value(one.key) : this.#row(one) };
    });
    return { write: write.filter(({ before, after }) => before !== null || after !== null), call: [...this.#calls] };
  }

  async #answer(call: WorldCall): Promise<WorldReply> {
    try {
      const request = readRequest(call);
      return request === undefined ? await this.#unknown(call) : await this.#perform(request, call);
    } catch (error) {
      if (error instanceof Refused) return error.reply;
      if (!(error instanceof Failure)) throw error;
      const { status, payload } = failureAnswer(error, { requestId: 'rehearsal', path: call.path, accept: '' });
      return { status, body: JSON.parse(String(payload)) };
    }
  }

  #unknown(call: WorldCall): Promise<WorldReply> {
    if (call.method === 'GET') return this.#real.call(call);
    throw new Failure('INVALID_REQUEST', { message: 'A rehearsal cannot make this call.', param: 'path' });
  }

  async #perform(request: DataRequest, call: WorldCall): Promise<WorldReply> {
    const { params } = request;
    switch (request.id) {
      case 'json.get':
        return this.#keys.has(params.key ?? '') ? this.#here(request) : this.#real.call(call);
      case 'json.list':
        if (this.#keys.size === 0) return this.#real.call(call);
        await this.#holdKeys(String(request.query.prefix));
        return this.#here(request);
      case 'json.put':
      case 'json.patch':
      case 'json.delete':
        await this.#holdKey(params.key ?? '', request);
        return this.#here(request);
      case 'tables.getRow':
        return this.#tables.has(params.table ?? '') ? this.#here(request) : this.#real.call(call);
      case 'tables.insert':
      case 'tables.patchRow':
      case 'tables.deleteRow':
        await this.#mayWrite();
        await this.#holdTable(params.table ?? '', request);
        return this.#here(request);
      case 'tables.query':
      case 'tables.count':
      case 'tables.aggregate':
        return this.#read(request, params.table ?? '', call);
      default:
        return request.id satisfies never;
    }
  }

  /** By the handlers of the API, on what is held here. */
  async #here(request: DataRequest): Promise<WorldReply> {
    return request.answerBy(this.#artifact.handlers, (await this.#whoLooks()).role);
  }

  async #read(request: DataRequest, table: string, call: WorldCall): Promise<WorldReply> {
    if (!this.#tables.has(table)) {
      const reply = await this.#real.call(call);
      const more = (reply.body as { data?: { hasMore?: unknown } } | undefined)?.data?.hasMore === true;
      // The next page may be read after a change, and cursors of the real table do not fit the one that is held here.
      if (!more || request.id !== 'tables.query' || request.body.cursor !== undefined) return reply;
      try {
        await this.#holdTable(table, undefined);
      } catch (error) {
        if (error instanceof Failure && error.code === 'TOO_MANY_ROWS') return reply;
        throw error;
      }
    }
    return { status: 200, body: { success: true, data: this.#tableReads.read(request, table) } };
  }

  async #holdKey(key: string, request: DataRequest): Promise<void> {
    await this.#mayWrite();
    if (!this.#keys.has(key)) {
      const stored = await this.#reads.key(key, () => this.#artifact.nextSeq());
      this.#hold(key, stored);
    }
    if (request.id === 'json.delete' || request.ifMatch !== undefined || this.#artifact.text(key) !== undefined) return;
    this.#otherKeys ??= (await this.#reads.keyCount()) - this.#heldKeys();
    if (this.#otherKeys + this.#heldKeys() >= LIMITS.jsonKeysMax) throw new Failure('KEY_LIMIT_EXCEEDED');
  }

  async #holdKeys(prefix: string): Promise<void> {
    for await (const stored of this.#reads.keys(prefix, () => this.#artifact.nextSeq())) {
      if (!this.#keys.has(stored.key)) this.#hold(stored.key, stored);
    }
  }

  #hold(key: string, stored: Awaited<ReturnType<RealReads['key']>>): void {
    this.#keys.add(key);
    if (stored === undefined) return;
    if (this.#otherKeys !== undefined) this.#otherKeys -= 1;
    this.#artifact.holdKey(stored);
  }

  #heldKeys(): number {
    return this.#artifact.json.page({ prefix: '', after: undefined, limit: 1, values: false, reserved: true }).count;
  }

  async #holdTable(name: string, request: DataRequest | undefined): Promise<void> {
    if (!this.#tables.has(name)) {
      const found = await this.#reads.table(name, () => this.#artifact.nextSeq());
      this.#tables.add(name);
      if (found !== undefined) {
        if (this.#otherTables !== undefined) this.#otherTables -= 1;
        this.#artifact.holdTable(found.table, found.rows);
      }
    }
    if (request?.id !== 'tables.insert' || this.#artifact.tables.find(name) !== undefined) return;
    const held = () => this.#artifact.tables.list().length;
    this.#otherTables ??= (await this.#reads.tableCount()) - held();
    if (this.#otherTables + held() >= LIMITS.tablesMax) throw new Failure('TABLE_LIMIT_EXCEEDED', { param: 'table' });
  }

  async #mayWrite(): Promise<void> {
    if (!(await this.#whoLooks()).canWrite) throw new Failure('FORBIDDEN');
  }

  #whoLooks(): Promise<Viewer> {
    this.#viewer ??= this.#reads.viewer();
    return this.#viewer;
  }

  #note(change: Change, before: StoredRow | undefined): void {
    if (change.kind === 'json.put' || change.kind === 'json.delete') {
      const name = `json/${change.key}`;
      if (!this.#written.has(name)) this.#written.set(name, { channel: 'json', key: change.key, before: this.#value(change.key) });
    } else if (change.kind === 'row.put' || change.kind === 'row.delete') {
      const { table, rowId } = change;
      const name = `tables/${table}/${rowId}`;
      if (!this.#written.has(name)) this.#written.set(name, { channel: 'tables', table, rowId, before: shown(before) });
    }
  }

  #value(key: string): unknown {
    const text = this.#artifact.text(key);
    return text === undefined ? null : JSON.parse(text);
  }

  #row({ table, rowId }: RowWritten): unknown {
    const storedAs = this.#artifact.tables.find(table)?.storedAs ?? table;
    return shown(this.#artifact.row(storedAs, rowId));
  }
}

function shown(row: StoredRow | undefined): unknown {
  return row === undefined ? null : JSON.parse(rowJson(row));
}
