/** Builds one SQL statement. Its text holds only our own SQL and the placeholders `$1`, `$2` …; input from callers is always a parameter. */
import type { Sql } from '../../../../storage/sql.ts';

export type Parameter = string | number | boolean;
export type ParameterType = 'text' | 'bigint' | 'integer' | 'double precision' | 'numeric';

interface RawColumn {
  readonly name: string;
  readonly parser?: ((text: string) => unknown) | undefined;
}

export class Statement {
  readonly #parameters: Parameter[] = [];

  /** Adds a parameter and returns its typed placeholder, which the text must contain: Postgres rejects unused parameters. */
  param(value: Parameter, type: ParameterType): string {
    this.#parameters.push(value);
    return `$${this.#parameters.length}::${type}`;
  }

  /** Adds a JSON value as jsonb. It is sent as text, because the client would encode a string as JSON a second time. */
  json(value: unknown): string {
    return `(${this.param(JSON.stringify(value), 'text')})::jsonb`;
  }

  /** A list of sequence numbers. */
  seqs(values: readonly number[]): string {
    return `string_to_array(${this.param(values.join(','), 'text')}, ',')::bigint[]`;
  }

  /** Runs the statement unprepared: callers can form any number of shapes, and the planner should see the values. */
  run<R extends object>(sql: Sql, text: string): Promise<readonly R[]> {
    return sql.unsafe<R[]>(text, this.#parameters).then((rows) => rows);
  }

  /**
   * Runs it with one column as the bytes that came. Texts of many rows would be copied by the garbage collector, which stops everybody for as
   * long as that takes.
   */
  async runWithBytes<R extends object>(sql: Sql, text: string, bytesColumn: string & keyof R): Promise<readonly R[]> {
    const rows = await sql.unsafe(text, this.#parameters).raw();
    const columns: readonly RawColumn[] = rows.columns;
    return rows.map((values) => {
      const row: Record<string, unknown> = {};
      for (const [at, { name, parser }] of columns.entries()) {
        const value: Buffer | null | undefined = values[at];
        if (value === null || value === undefined || name === bytesColumn) row[name] = value ?? null;
        else row[name] = parser === undefined ? value.toString() : parser(value.toString());
      }
      return row as R;
    });
  }
}
