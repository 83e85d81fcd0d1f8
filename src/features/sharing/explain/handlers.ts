/** The endpoints that say who may what with an artifact, and what a change would do. */
import type { z } from 'zod';
import {
  ANONYMOUS,
  type ArtifactHead,
  isOpenToMembers,
  NO_GRANTS,
  type Person,
  type Principal,
  personAt,
} from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, FolderId, PersonId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { ABILITIES, type accessSimulated } from '../../../../protocol/sharing/explain.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { readHead } from '../../artifacts/artifacts/rows.ts';
import { isEnabled } from '../../business/tiers/rules.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { findByProvedEmail, readGrantsOfAddress, readStandings } from '../../people/persons/rows.ts';
import { seenFolder, seesFolder } from '../../workspaces/folders/places.ts';
import { readWorkspaceByRef } from '../../workspaces/workspaces/rows.ts';
import { presentGrant } from '../grants/handlers.ts';
import { countGrants, listGrants } from '../grants/rows.ts';
import { type Ability, asAgent, asPrincipal, canOf, reasonsOf } from './evaluate.ts';
import { readWorld, type World } from './world.ts';

export type ExplainDeps = Pick<ServiceDeps, 'sql' | 'clock'>;

export function explainHandlers({ sql, clock }: ExplainDeps): Handlers<'access.list' | 'access.explain' | 'access.simulate'> {
  return {
    'access.list': async ({ principal, params, query }) => {
      const head = await liveHead(sql, params.id);
      return { reply: 'ok', body: await othersWithAccess(sql, principal, head, query) };
    },
    'access.explain': async ({ params, query: { email } }) => {
      const head = await liveHead(sql, params.id);
      const userId = await findByProvedEmail(sql, email);
      const nowMs = clock.nowMs();
      const person = userId === null ? undefined : (await readStandings(sql, [userId], nowMs)).get(userId)?.person;
      const asked = person ?? (await unprovedPerson(sql, head, email, nowMs));
      const because = reasonsOf(head, asked, userId);
      return { reply: 'ok', body: { email, has_account: person !== undefined, can: canOf(head, asPrincipal(asked)), because } };
    },
    'access.simulate': async ({ principal, params, body }) => {
      if (body.folder_id) await requireFolder(sql, principal, params.id, body.folder_id);
      return { reply: 'ok', body: comparison(await readWorld(sql, params.id, body, clock.nowMs())) };
    },
  };
}

interface PageQuery {
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly count: boolean;
}

/** Whoever sees it without being a collaborator. Names of folders that the caller does not see are left out, and the grants are not. */
async function othersWithAccess(sql: Queries, principal: Principal, head: ArtifactHead, query: PageQuery) {
  const { id, workspaceId, folder } = head;
  const workspace = workspaceId === null ? null : await readWorkspaceByRef(sql, workspaceId);
  if (workspaceId === null || workspace === null) {
    const total = query.count ? { total: 0 } : {};
    return { members: false, counts_outside: false, grants: [], has_more: false, next_cursor: null, ...total };
  }
  const filter = { resources: [id, ...(folder?.reach ?? [])] };
  const rows = await listGrants(sql, workspaceId, filter, decodeCursor(query.cursor), query.limit + 1);
  const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
  const total = query.count ? { total: await countGrants(sql, workspaceId, filter) } : {};
  const hidden = await unseenOf(sql, principal, new Set(items.flatMap(({ folder_id }) => folder_id ?? [])));
  const grants = items.map((row) => {
    const isHidden = row.folder_id !== null && hidden.has(row.folder_id);
    return { ...presentGrant(row), ...(isHidden && { resource_id: null, resource_name: null }) };
  });
  const counts_outside = isEnabled(workspace, 'collab.external_sharing');
  return { members: isOpenToMembers(head), counts_outside, grants, ...page, ...total };
}

/** Which of these folders, at most those above one artifact, the caller does not see. */
async function unseenOf(sql: Queries, principal: Principal, ids: ReadonlySet<FolderId>): Promise<ReadonlySet<FolderId>> {
  const unseen = new Set<FolderId>();
  for (const id of ids) if (!(await seesFolder(sql, principal, id))) unseen.add(id);
  return unseen;
}

/** Read from the store: an answer about rights comes from no cache. */
async function liveHead(sql: Queries, id: ArtifactId): Promise<ArtifactHead> {
  const head = await readHead(sql, id);
  if (head === null || head.deletedAtMs !== null) throw new Failure('ARTIFACT_NOT_FOUND');
  return head;
}

/** What somebody gets as soon as they prove the address. */
async function unprovedPerson(sql: Queries, head: ArtifactHead, email: string, nowMs: number): Promise<Person> {
  const grants = head.workspaceId === null ? NO_GRANTS : await readGrantsOfAddress(sql, head.workspaceId, email);
  return personAt({ id: email as PersonId, accounts: new Set(), workspaces: new Map(), grants }, nowMs);
}

/** Throws FOLDER_NOT_FOUND for a folder that the caller does not see, or where the artifact cannot be filed. */
async function requireFolder(sql: Queries, principal: Principal, id: ArtifactId, folderId: FolderId): Promise<void> {
  const folder = await seenFolder(sql, principal, folderId);
  const { workspaceId } = await liveHead(sql, id);
  if (folder.workspaceId !== workspaceId) throw new Failure('FOLDER_NOT_FOUND', { param: 'folder_id' });
}

type Simulated = z.input<typeof accessSimulated>;
type Entry = Simulated['opens'][number];

function comparison({ before, after, people, revision }: World): Simulated {
  const opens: Entry[] = [];
  const closes: Entry[] = [];
  const compare = (who: Entry['who'], one: Principal, other: Principal) => {
    const [had, has] = [canOf(before, one), canOf(after, other)];
    const gained = ABILITIES.filter((ability: Ability) => has[ability] && !had[ability]);
    const lost = ABILITIES.filter((ability: Ability) => had[ability] && !has[ability]);
    if (gained.length > 0) opens.push({ who, can: gained });
    if (lost.length > 0) closes.push({ who, can: lost });
  };
  compare({ type: 'everybody' }, ANONYMOUS, ANONYMOUS);
  if (before.workspaceId !== null) {
    const agent = asAgent(before.workspaceId);
    compare({ type: 'agents' }, agent, agent);
  }
  for (const { email, name, before: was, after: is } of people) compare({ type: 'person', email, name }, asPrincipal(was), asPrincipal(is));
  return {
    opens: opens.slice(0, LIMITS.simulatedShownMax),
    closes: closes.slice(0, LIMITS.simulatedShownMax),
    opens_total: opens.length,
    closes_total: closes.length,
    examined: people.length,
    revision,
  };
}
