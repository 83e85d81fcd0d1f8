/** The text and the parameters of one commit's statement. Each column is one parameter, with its values joined into one text. */

/** Cannot occur in JSON or in any name that callers may choose. */
const SEPARATOR = '\x1e';
const NEEDS_ESCAPE = /["\\]/g;

/**
 * Built by hand, because fragments of the client library cost more than the rest of a commit, and each one survives minor garbage
 * collections.
 */
export class JournalStatement {
  readonly parameters: string[] = [];

  /** SQL for an array of `bigint`. */
  bigints(values: readonly (number | null)[]): string {
    return `${this.#numbers(values)}::bigint[]`;
  }

  /** SQL for an array of `integer`. */
  integers(values: readonly number[]): string {
    return `${this.#numbers(values)}::integer[]`;
  }

  /** SQL for an array of `double precision`. */
  doubles(values: readonly (number | null)[]): string {
    return `${this.#numbers(values)}::double precision[]`;
  }

  /** SQL for an array of `text`. */
  texts(values: readonly string[]): string {
    const joined = values.join(SEPARATOR);
    // A separator inside a value would shift all later values, and an empty text would be read as an empty array.
    if (joined === '' || values.some((value) => value.includes(SEPARATOR))) return this.nullableTexts(values);
    return `string_to_array(${this.#bind(joined)}, E'\\x1e')`;
  }

  /** SQL for an array of `text` whose values may be null or hold any character. */
  nullableTexts(values: readonly (string | null)[]): string {
    const literals = values.map((value) => (value === null ? 'NULL' : `"${value.replace(NEEDS_ESCAPE, '\\$&')}"`));
    return `${this.#bind(`{${literals.join(',')}}`)}::text[]`;
  }

  #numbers(values: readonly (number | null)[]): string {
    // `join` would turn null into an empty text.
    const list = values.includes(null) ? values.map((value) => value ?? 'NULL') : values;
    return this.#bind(`{${list.join(',')}}`);
  }

  #bind(value: string): string {
    this.parameters.push(value);
    return `$${this.parameters.length}`;
  }
}
