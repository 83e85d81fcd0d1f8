/** One SQL statement in the making. Its text is made of our own words and `$1`, `$2` …; what callers send only ever becomes a parameter. */
import type { Sql } from '../../storage/sql.ts';

export type Parameter = string | number | boolean;
export type ParameterType = 'text' | 'bigint' | 'integer' | 'double precision' | 'numeric';

export class Statement {
  readonly #parameters: Parameter[] = [];

  /** Takes a value and answers its place in the text, with its type. It must come to stand there: the server asks for the use of each. */
  param(value: Parameter, type: ParameterType): string {
    this.#parameters.push(value);
    return `$${this.#parameters.length}::${type}`;
  }

  /** A JSON value as jsonb. As text first: the client would else write a text as JSON once more. */
  json(value: unknown): string {
    return `(${this.param(JSON.stringify(value), 'text')})::jsonb`;
  }

  /** Not prepared by name: the shapes that callers can think of are without number, and a plan should see their values. */
  run<R extends object>(sql: Sql, text: string): Promise<readonly R[]> {
    return sql.unsafe<R[]>(text, this.#parameters).then((rows) => rows);
  }
}
