/** Tables over HTTP, in few words. */
import type { TestEasel, TestUser } from '../support/easel.ts';
import { json, published, refusal } from './requests.ts';

interface Sent {
  readonly token?: string | undefined;
  readonly headers?: Record<string, string>;
}

/** One artifact's tables, as its owner uses them. */
export class Tables {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly artifactId: string;

  private constructor(easel: TestEasel, owner: TestUser, artifactId: string) {
    this.easel = easel;
    this.owner = owner;
    this.artifactId = artifactId;
  }

  static async make(easel: TestEasel, body: object = {}): Promise<Tables> {
    // Of a plan that may publish openly.
    const owner = await easel.newUser('pro');
    return new Tables(easel, owner, (await published(easel, owner, body)).id);
  }

  /** `path` after `/tables`. A body becomes JSON; a text is sent as it is. */
  send(method: string, path: string, body?: unknown, sent: Sent = {}): Promise<Response> {
    const token = 'token' in sent ? sent.token : this.owner.token;
    const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...sent.headers };
    const init = { method, headers, ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }) };
    return this.easel.fetch(`/v1/data/${this.artifactId}/tables${path}`, token === undefined ? init : { ...init, token });
  }

  /** The answer's `data`, where the call must succeed. */
  async ok(method: string, path: string, body?: unknown, sent: Sent = {}) {
    const reply = await this.send(method, path, body, sent);
    const answer = await json(reply);
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${JSON.stringify(answer)}`);
    return answer.data;
  }

  refused(method: string, path: string, body?: unknown, sent: Sent = {}) {
    return refusal(this.send(method, path, body, sent));
  }

  /** What is stored of a table, in the order of insertion. */
  async stored(table: string) {
    const rows = await this.easel.sql`
      select row_id as id, data from table_row
      where artifact_id = ${this.artifactId} and table_name = ${this.#storedAs(table)} order by created_seq`;
    return rows.map((row) => ({ id: row.id as string, ...row.data }));
  }

  /** What the index has, as `column=value` with the type in front of it. */
  async index(table: string): Promise<string[]> {
    const rows = await this.easel.sql`
      select column_name, kind, num, txt from row_index where artifact_id = ${this.artifactId} and table_name = ${this.#storedAs(table)}`;
    return rows.map((row) => `${row.kind} ${row.column_name}=${row.num ?? row.txt}`).sort();
  }

  /** What rows of the table have as its name. */
  #storedAs(table: string) {
    return this.easel.sql`(select coalesce(stored_as, name) from data_table where artifact_id = ${this.artifactId} and name = ${table})`;
  }
}
