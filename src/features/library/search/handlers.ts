/** The endpoint of search. */
import type { z } from 'zod';
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { SEARCH_GROUPS, type SearchGroup, type SearchHit, type searchResult } from '../../../../protocol/library/search.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { ShareQueue } from '../../../platform/share-queue.ts';
import { callHolders } from '../../data/tables/reads.ts';
import type { ServiceDeps } from '../../deps.ts';
import { memberOf } from '../../workspaces/folders/places.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import { type FoundArtifact, findArtifacts, recentArtifacts } from './artifacts.ts';
import { type Asking, findNamed, type NamedGroup, type NamedRow } from './groups.ts';
import { nameScore } from './names.ts';
import { urlOf } from './passages.ts';
import { readerOf } from './reader.ts';
import { together } from './searching.ts';
import { snippetsOf } from './snippets.ts';
import { type Term, termsOf } from './terms.ts';

export interface SearchDeps extends Pick<ServiceDeps, 'sql' | 'config'> {
  readonly isEmbedded: boolean;
  readonly workspaces: WorkspaceDirectory;
}

interface Working {
  readonly indexer: { rebuild(): Promise<number> };
  readonly searching: ShareQueue;
}

export function searchHandlers(deps: SearchDeps & Working): Handlers<'search.find' | 'search.rebuild'> {
  return {
    'search.rebuild': async () => ({ reply: 'ok', body: { queued: await deps.indexer.rebuild() } }),
    'search.find': async (call) => {
      const asking = await askingOf(deps, call);
      const found = await deps.searching.run(callHolders(call), () => findAll(deps, asking, call.query, call.ended), call.ended);
      const all = Object.fromEntries(SEARCH_GROUPS.map((group) => [group, found.get(group) ?? []]));
      return { reply: 'ok', body: { query: call.query.q, ...all } as z.input<typeof searchResult> };
    },
  };
}

/** The artifacts first, because they take longest; what their pages say of it beside the other groups, which follow each other. */
async function findAll(
  deps: SearchDeps,
  asking: Asking,
  { q, groups: wanted, limit }: Call<Endpoints['search.find']>['query'],
  ended: AbortSignal,
): Promise<ReadonlyMap<SearchGroup, readonly SearchHit[]>> {
  const terms = await termsOf(deps.sql, q, true);
  // Only signs: that is nobody's name and no word.
  const isNothing = terms.length === 0 && q.trim() !== '';
  if (isNothing) return new Map();
  const groups: readonly SearchGroup[] = wanted ?? SEARCH_GROUPS;
  const artifacts = groups.includes('artifacts') ? await findArtifactsOf(deps, asking, terms, limit) : [];
  const named = async () => {
    // Whoever types on has left, and what is typed then waits for this one.
    ended.throwIfAborted();
    return namedHits(
      deps,
      groups.filter((group) => group !== 'artifacts'),
      asking,
      terms,
      limit,
    );
  };
  const [hits, others] = await together(deps, [() => artifactHits(deps, asking, artifacts), named]);
  return new Map<SearchGroup, readonly SearchHit[]>([...others, ['artifacts', hits]]);
}

/** Throws FORBIDDEN where the caller may not narrow the search to the workspace. */
async function askingOf({ workspaces }: SearchDeps, { principal, query }: Call<Endpoints['search.find']>): Promise<Asking> {
  return {
    reader: readerOf(principal),
    scopes: principal.kind === 'agent' ? principal.scopes : null,
    workspaceId: query.workspace === undefined ? undefined : await workspaceOf(workspaces, principal, query.workspace),
  };
}

async function workspaceOf(workspaces: WorkspaceDirectory, principal: Principal, ref: string): Promise<WorkspaceId> {
  if (principal.kind !== 'user' || principal.tokenKind === 'external') {
    throw new Failure('FORBIDDEN', {
      param: 'workspace',
      message: 'workspace: is for personal tokens; this token searches where it is used already.',
      hint: 'Leave workspace out.',
    });
  }
  return memberOf(workspaces, principal, ref, 'workspace');
}

async function findArtifactsOf(
  deps: SearchDeps,
  { reader, workspaceId }: Asking,
  terms: readonly Term[],
  limit: number,
): Promise<FoundArtifact[]> {
  const within = { workspaceId };
  if (terms.length > 0) return findArtifacts(deps, reader, within, terms, limit);
  const recent = await recentArtifacts(deps.sql, reader, within, limit);
  return recent.map((row) => ({ ...row, is_around: true, score: 0, terms }));
}

async function artifactHits({ sql, config }: SearchDeps, { reader }: Asking, found: readonly FoundArtifact[]): Promise<SearchHit[]> {
  const terms = found[0]?.terms ?? [];
  const ids = terms.length === 0 ? [] : found.map(({ id }) => id);
  const snippets = await snippetsOf(sql, reader, ids, terms);
  return found.map(
    ({ id, name, slug, updated_at_ms, score }): SearchHit => ({
      id,
      type: 'artifact',
      title: name,
      subtitle: slug,
      url: urlOf(config, slug, null),
      snippet: snippets.get(id) ?? null,
      score: rounded(score),
      updated_at: dateTime(updated_at_ms),
    }),
  );
}

async function namedHits(
  { sql, config }: SearchDeps,
  groups: readonly NamedGroup[],
  asking: Asking,
  terms: readonly Term[],
  limit: number,
): Promise<ReadonlyMap<NamedGroup, readonly SearchHit[]>> {
  const rows = await findNamed(sql, groups, asking, terms, limit);
  const scored = rows.flatMap((row): (NamedRow & { readonly score: number })[] => {
    const score = terms.length === 0 ? 0 : nameScore(row.title, row.subtitle, terms);
    return score === null ? [] : [{ ...row, score }];
  });
  // What fits alike stays in its order: last changed first.
  scored.sort((one, other) => other.score - one.score);
  const hitOf = ({ id, type, title, subtitle, path, updated_at_ms, score }: (typeof scored)[number]): SearchHit => ({
    id,
    type,
    title,
    subtitle,
    url: path === null ? null : `${config.baseUrl}${path}`,
    snippet: null,
    score: rounded(score),
    updated_at: updated_at_ms === null ? null : dateTime(updated_at_ms),
  });
  const hits = (wanted: NamedGroup) =>
    scored
      .filter(({ group }) => group === wanted)
      .slice(0, limit)
      .map(hitOf);
  return new Map(groups.map((group) => [group, hits(group)]));
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000;
}
