/** Keys that sign what the service gives out, one for each purpose. Created once for each installation; every node reads the same. */
import { randomBytes } from 'node:crypto';
import type { Sql } from './sql.ts';

export class SigningKey {
  readonly #sql: Sql;
  readonly #name: string;
  #key: Promise<Uint8Array> | undefined;

  constructor(sql: Sql, name: string) {
    this.#sql = sql;
    this.#name = name;
  }

  /** Read it before a transaction begins: on the embedded database a query beside an open transaction waits for its end. */
  bytes(): Promise<Uint8Array> {
    this.#key ??= this.#read().catch((error) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }

  async #read(): Promise<Uint8Array> {
    const fresh = randomBytes(32).toString('base64url');
    await this.#sql`insert into installation (name, value) values (${this.#name}, ${fresh}) on conflict do nothing`;
    const [row] = await this.#sql<{ value: string }[]>`select value from installation where name = ${this.#name}`;
    if (!row) throw new Error(`installation.${this.#name} is missing`);
    return Buffer.from(row.value, 'base64url');
  }
}
