/** A short notation for calls of the table endpoints over HTTP. */
import type { TestEasel, TestUser } from '../../../support/easel.ts';
import { json, published, refusal } from '../../../support/requests.ts';

interface Sent {
  readonly token?: string | undefined;
  readonly headers?: Record<string, string>;
}

/** The tables of one artifact, called as its owner. */
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
    // Some tests need a plan that may publish publicly.
    const owner = await easel.newUser('pro');
    return new Tables(easel, owner, (await published(easel, owner, body)).id);
  }

  /** `path` follows `/tables`. A string body is sent as it is, any other as JSON. */
  send(method: string, path: string, body?: unknown, sent: Sent = {}): Promise<Response> {
    const token = 'token' in sent ? sent.token : this.owner.token;
    const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...sent.headers };
    const init = { method, headers, ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }) };
    return this.easel.fetch(`/v1/data/${this.artifactId}/tables${path}`, token === undefined ? init : { ...init, token });
  }

  /** Returns `data` of the reply; throws unless the call succeeds. */
  async ok(method: string, path: string, body?: unknown, sent: Sent = {}) {
    const reply = await this.send(method, path, body, sent);
    const answer = await json(reply);
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${JSON.stringify(answer)}`);
    return answer.data;
  }

  refused(method: string, path: string, body?: unknown, sent: Sent = {}) {
    return refusal(this.send(method, path, body, sent));
  }

  /** The stored rows of a table in insertion order. */
  async stored(table: string) {
    const rows = await this.easel.sql`
      select row_id as id, data from table_row
      where artifact_id = ${this.artifactId} and table_name = ${this.#storedAs(table)} order by created_seq`;
    return rows.map((row) => ({ id: row.id as string, ...row.data }));
  }

  /** The index entries of a table, each as `kind column=value`. */
  async index(table: string): Promise<string[]> {
    const rows = await this.easel.sql`
      select column_name, kind, num, txt from row_index where artifact_id = ${this.artifactId} and table_name = ${this.#storedAs(table)}`;
    return rows.map((row) => `${row.kind} ${row.column_name}=${row.num ?? row.txt}`).sort();
  }

  /** The name under which rows of the table are stored. */
  #storedAs(table: string) {
    return this.easel.sql`(select coalesce(stored_as, name) from data_table where artifact_id = ${this.artifactId} and name = ${table})`;
  }
}
