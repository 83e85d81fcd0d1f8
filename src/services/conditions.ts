/** ETags of artifacts and the If-Match that guards a change of one. Source: contract.md §0, "Conditional requests". */
import { Failure } from '../../protocol/errors.ts';

interface Stamped {
  readonly updated_at_ms: number;
}

/** The ETag of an artifact's state: it rises with every change. Quotes included. */
export function artifactEtag(row: Stamped): string {
  return `"${row.updated_at_ms.toString(36)}"`;
}

/** The ETag of the artifact as one caller sees it: the favourite mark is the caller's own and does not change the artifact. */
export function viewEtag(row: Stamped & { readonly is_favorite: boolean }): string {
  return row.is_favorite ? `"${row.updated_at_ms.toString(36)}.f"` : artifactEtag(row);
}

/** Throws VERSION_CONFLICT unless `ifMatch` is absent, `*`, an ETag of the current state, or its bare `updated_at`. */
export function requireMatch(ifMatch: string | undefined, row: Stamped): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const state = row.updated_at_ms.toString(36);
  for (const candidate of ifMatch.split(',')) {
    const tag = /^(?:W\/)?"?([^"]*)"?$/.exec(candidate.trim())?.[1] ?? '';
    if (tag === state || tag === `${state}.f` || tag === new Date(row.updated_at_ms).toISOString()) return;
  }
  throw new Failure('VERSION_CONFLICT', { etag: artifactEtag(row) });
}
