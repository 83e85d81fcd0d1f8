/** Reads of tables: bounded in time and in number, so that what one artifact asks for does not stall the others. */
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { type Sql, sqlState } from '../../storage/sql.ts';

const QUERY_CANCELED = '57014';

interface Turns {
  running: number;
  readonly waiting: (() => void)[];
}

export class TableReads {
  readonly #sql: Sql;
  readonly #turns = new Map<string, Turns>();

  /** `sql`: a client whose statements end after `tableReadMsMax`. */
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Runs a read when it is the artifact's turn. Rejects with UNAVAILABLE where too many wait, with QUERY_TOO_EXPENSIVE where it takes too long. */
  async run<T>(artifactId: string, read: (sql: Sql) => Promise<T>): Promise<T> {
    const turns = this.#turns.get(artifactId) ?? { running: 0, waiting: [] };
    this.#turns.set(artifactId, turns);
    if (turns.running >= LIMITS.artifactReadsMax) {
      if (turns.waiting.length >= LIMITS.artifactReadsWaitingMax) {
        throw new Failure('UNAVAILABLE', { message: 'Too many reads of this artifact at once.', retryAfterS: 1 });
      }
      // Whoever leaves hands over its place.
      await new Promise<void>((resolve) => turns.waiting.push(resolve));
    } else turns.running += 1;
    try {
      return await read(this.#sql);
    } catch (error) {
      throw sqlState(error) === QUERY_CANCELED ? new Failure('QUERY_TOO_EXPENSIVE') : error;
    } finally {
      this.#leave(artifactId, turns);
    }
  }

  #leave(artifactId: string, turns: Turns): void {
    const next = turns.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    turns.running -= 1;
    if (turns.running === 0) this.#turns.delete(artifactId);
  }
}
