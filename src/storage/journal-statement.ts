/** The text and the parameters of one commit's statement. A column goes to the server as one parameter: its values in one text. */

/** Cannot occur in JSON, nor in any name that we let callers choose. */
const SEPARATOR = '\x1e';
const NEEDS_ESCAPE = /["\\]/g;

/**
 * Built by hand rather than from fragments of the client's: those cost more than all else of a commit, and each of them outlives the
 * collections of young garbage that should have freed it.
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
    // A separator more than between them would shift everything behind it; and nothing at all reads as an empty array.
    if (joined === '' || values.some((value) => value.includes(SEPARATOR))) return this.nullableTexts(values);
    return `string_to_array(${this.#bind(joined)}, E'\\x1e')`;
  }

  /** The same where some are null, or may hold any character. */
  nullableTexts(values: readonly (string | null)[]): string {
    const literals = values.map((value) => (value === null ? 'NULL' : `"${value.replace(NEEDS_ESCAPE, '\\$&')}"`));
    return `${this.#bind(`{${literals.join(',')}}`)}::text[]`;
  }

  #numbers(values: readonly (number | null)[]): string {
    // `join` would leave null out.
    const list = values.includes(null) ? values.map((value) => value ?? 'NULL') : values;
    return this.#bind(`{${list.join(',')}}`);
  }

  #bind(value: string): string {
    this.parameters.push(value);
    return `$${this.parameters.length}`;
  }
}
