/**
 * If-Match and If-None-Match on a write, decided in the turn or the transaction that writes. Source: contract.md §0.
 * An ETag is `"version"` or `"version.view"`. The view identifies how one caller sees the resource; a write compares the version only.
 */
import { Failure } from '../../protocol/core/errors.ts';

/** As sent, undefined when absent. */
export interface Conditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

interface Current {
  /** The ETag of a GET now, with its quotes. */
  readonly etag: string;
  /** Undefined where the resource does not show when it was changed. */
  readonly updatedAtMs?: number;
}

/** Throws VERSION_CONFLICT with the current ETag, or INVALID_REQUEST where a condition cannot be read. */
export function checkConditions(current: Current | undefined, conditions: Conditions): void {
  const { ifMatch, ifNoneMatch } = conditions;
  if (ifMatch !== undefined && !matches(current, ifMatch, 'If-Match')) {
    throw conflict(current, current ? 'It was changed since you read it.' : 'If-Match was sent, but there is nothing stored.');
  }
  if (ifNoneMatch !== undefined && matches(current, ifNoneMatch, 'If-None-Match')) {
    throw conflict(current, 'It exists already.');
  }
}

function conflict(current: Current | undefined, message: string): Failure {
  return new Failure('VERSION_CONFLICT', { message, ...(current ? { etag: current.etag } : {}) });
}

const ETAGS = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;

function matches(current: Current | undefined, condition: string, header: string): boolean {
  if (condition === '*') return current !== undefined;
  if (condition === current?.etag) return true;
  // A weak tag never matches, because its text always differs from that of a strong one.
  if (ETAGS.test(condition)) {
    return current !== undefined && condition.split(',').some((tag) => versionOf(tag.trim()) === versionOf(current.etag));
  }
  const atMs = Date.parse(condition);
  if (Number.isNaN(atMs) || !/^\d{4}-\d\d-\d\dT/.test(condition)) {
    throw new Failure('INVALID_REQUEST', { message: `${header} must be an ETag in quotes, an updatedAt, or *.`, param: header });
  }
  return current !== undefined && current.updatedAtMs === atMs;
}

/** Without the view and the closing quote. */
function versionOf(etag: string): string {
  return etag.slice(0, -1).split('.', 1)[0] ?? '';
}
