/** What a run has done so far. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { ImportCounts, ImportError, ImportStopCode } from '../../../../protocol/library/file-imports.ts';
import type { Sql } from '../../../storage/sql.ts';
import { type Claim, NO_COUNTS, type Progress, saveProgress } from './runs.ts';

/** Of a path in a drive, as it is stored. */
export const PATH_CHARS_MAX = 1000;
const MESSAGE_CHARS_MAX = 500;

export const NOT_MEMBER = 'Who has made the source is not a member of the workspace any more.';
export const NOT_CONNECTED = 'The access to the drive was withdrawn. Connect it again.';

/** Ends a run before it has looked at everything. */
export class StopRun extends Error {
  override readonly name = 'StopRun';
  readonly code: ImportStopCode;

  constructor(code: ImportStopCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Another process has the run, or it is gone: nothing more is written of it. */
export class LostClaim extends Error {
  override readonly name = 'LostClaim';
}

/** The source was changed: the run is given back, and begins again with what the source says now. */
export class SourceChanged extends Error {
  override readonly name = 'SourceChanged';
}

/** The maker of the source is suspended: the run is given back, and nobody takes it until the suspension is lifted. */
export class MakerSuspended extends Error {
  override readonly name = 'MakerSuspended';
}

export class RunRecord implements Progress {
  readonly #sql: Sql;
  readonly #claim: Claim;
  readonly counts: ImportCounts = { ...NO_COUNTS };
  readonly errors: ImportError[] = [];

  constructor(sql: Sql, claim: Claim) {
    this.#sql = sql;
    this.#claim = claim;
  }

  /** Beyond the first ones, errors are counted only. */
  tell(path: string, status: ImportError['status'], code: string, message: string): void {
    if (this.errors.length >= LIMITS.importErrorsMax) return;
    this.errors.push({ path: cut(path, PATH_CHARS_MAX), status, code, message: cut(message, MESSAGE_CHARS_MAX) });
  }

  skip(path: string, code: string, message: string): void {
    this.counts.skipped += 1;
    this.tell(path, 'skipped', code, message);
  }

  fail(path: string, code: string, message: string): void {
    this.counts.failed += 1;
    this.tell(path, 'failed', code, message);
  }

  /** Throws `LostClaim`. */
  async save(): Promise<void> {
    if (!(await saveProgress(this.#sql, this.#claim, this))) throw new LostClaim();
  }
}

/** What a provider says, as it can be stored: Postgres takes no U+0000. */
export function cut(text: string, charsMax: number): string {
  const plain = text.replaceAll('\u0000', '').replace(/\p{Cs}/gu, '\ufffd');
  return plain.length <= charsMax ? plain : [...plain].slice(0, charsMax).join('');
}
