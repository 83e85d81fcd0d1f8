/** The endpoints that read and change an artifact's own fields. Its versions, its trash and its data have their own files. */
import type { z } from 'zod';
import type { Principal, Role } from '../../../../actors/access/access.ts';
import { type Conditions, checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { artifactUpdate } from '../../../../protocol/artifacts/artifacts.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, FolderId, UserId } from '../../../../protocol/core/ids.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPageAt } from '../../../edge/paging.ts';
import { violates } from '../../../storage/pg-errors.ts';
import { settleWish } from '../../business/tiers/wishes.ts';
import type { ServiceDeps } from '../../deps.ts';
import { tierIn } from '../../people/accounts/rows.ts';
import { type Accounts, accountsOf } from '../../people/accounts/rules.ts';
import { checkSimulated } from '../../sharing/explain/revision.ts';
import { endGrantsOfArtifact } from '../../sharing/grants/rows.ts';
import { accountsOfExternals } from '../../sharing/sharees/externals.ts';
import type { AuditedCall } from '../../workspaces/audit/audit.ts';
import { memberOf, seenFolder } from '../../workspaces/folders/places.ts';
import { publishRuleFor, requireMayMoveIn } from '../../workspaces/publish-policy/rules.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import type { ThumbnailWishes } from '../thumbnails/wishes.ts';
import { isOwnSession } from '../viewing/page-sign-ins.ts';
import { auditArtifact, changesOf } from './audit.ts';
import { artifactEtag, artifactState, viewEtag } from './conditions.ts';
import { countArtifacts, type Listed, listArtifacts, viewerOf } from './lists.ts';
import { cursorIn, orderOf } from './order.ts';
import { hashPassword } from './password.ts';
import { presentArtifact } from './present.ts';
import { type ArtifactRow, deleteFavorite, insertFavorite, lockArtifact, requireArtifact, writeFields } from './rows.ts';
import { changeTimeMs, decideVisibility, heldNotice } from './rules.ts';
import { requireSlug } from './slugs.ts';

type ArtifactIds = 'artifacts.list' | 'artifacts.get' | 'artifacts.update' | 'artifacts.favorite' | 'artifacts.unfavorite';
type ArtifactUpdate = z.output<typeof artifactUpdate>;
export type ArtifactDeps = Pick<ServiceDeps, 'sql' | 'clock' | 'bus' | 'config'> & {
  readonly workspaces: WorkspaceDirectory;
  readonly wishes: Pick<ThumbnailWishes, 'add'>;
};
type Deps = ArtifactDeps;

interface ListQuery {
  readonly favorites: boolean;
  readonly shared: boolean;
  readonly workspace_id?: string | undefined;
  readonly folder_id?: FolderId | undefined;
  readonly q?: string | undefined;
}

/** Which artifacts a caller asks for. Throws FORBIDDEN for a workspace of which the caller is no member, FOLDER_NOT_FOUND. */
async function listedBy({ sql, workspaces }: Deps, principal: Principal, query: ListQuery): Promise<Listed> {
  const { favorites, shared, folder_id } = query;
  if (shared) requireAlone(query);
  const folder = folder_id === undefined ? undefined : await seenFolder(sql, principal, folder_id);
  const named = query.workspace_id ?? (principal.kind === 'agent' ? principal.workspaceId : undefined);
  const workspaceId = named === undefined ? folder?.workspaceId : await memberOf(workspaces, principal, named);
  if (folder !== undefined && folder.workspaceId !== (workspaceId ?? null)) throw new Failure('FOLDER_NOT_FOUND', { param: 'folder_id' });
  const narrowed = { ...(folder && { folderId: folder.id }), ...(query.q !== undefined && { containing: query.q }) };
  if (favorites) return { of: 'favorites', ...(workspaceId && { workspaceId }), ...narrowed };
  if (shared) return { of: 'shared', ...narrowed };
  return workspaceId ? { of: 'workspace', workspaceId, ...narrowed } : { of: 'caller', ...narrowed };
}

/** What is shared by name is from everywhere. Throws INVALID_REQUEST. */
function requireAlone({ favorites, workspace_id, folder_id }: ListQuery): void {
  if (!favorites && workspace_id === undefined && folder_id === undefined) return;
  throw new Failure('INVALID_REQUEST', {
    param: 'shared',
    message: 'shared: cannot be combined with favorites, workspace_id or folder_id.',
  });
}

export function artifactHandlers(deps: Deps): Handlers<ArtifactIds> {
  const { sql, clock, config } = deps;
  return {
    'artifacts.list': async ({ principal, query }) => {
      const viewer = viewerOf(principal);
      const listed = await listedBy(deps, principal, query);
      const rows = await listArtifacts(sql, viewer, listed, orderOf(query.sort, query.cursor), query.limit + 1);
      const { items, page } = cutPageAt(rows, query.limit, cursorIn(query.sort));
      const total = query.count ? { total: await countArtifacts(sql, viewer, listed) } : {};
      wishPictures(deps, principal, items);
      return { reply: 'ok', body: { artifacts: items.map((row) => presentArtifact(row, config, principal)), ...page, ...total } };
    },
    'artifacts.get': async ({ principal, params, role }) => {
      const row = await requireArtifact(sql, params.id, accountsOf(principal));
      wishPictures(deps, principal, [row]);
      return {
        reply: 'ok',
        body: { ...presentArtifact(row, config, principal), role, ...heldWish(row, role) },
        etag: viewEtag(row, principal, role),
      };
    },
    'artifacts.update': async (call) => {
      const { row, held } = await updateArtifact(deps, call, call.params.id, call.body);
      const shown = { ...presentArtifact(row, config, call.principal), role: call.role, ...heldWish(row, call.role) };
      if (held) return { reply: 'held', body: { ...shown, ...heldNotice(row.visibility) }, etag: artifactEtag(row) };
      return { reply: 'ok', body: shown, etag: viewEtag(row, call.principal, call.role) };
    },
    'artifacts.favorite': async ({ user, params: { id } }) => {
      await insertFavorite(sql, user, id, clock.nowMs());
      return { reply: 'ok', body: { success: true, artifact_id: id, favorited: true } };
    },
    'artifacts.unfavorite': async ({ principal, params: { id } }) => {
      await deleteFavorite(sql, accountsOf(principal), id);
      return { reply: 'ok', body: { success: true, artifact_id: id, favorited: false } };
    },
  };
}

/** What waits for a plan concerns whoever may change it. */
function heldWish({ requested_visibility }: ArtifactRow, role: Role) {
  return requested_visibility !== null && (role === 'owner' || role === 'editor') ? { requested_visibility } : {};
}

/** Asks for the pictures that a browser lacks. Programs look at none, so that a page that nobody looks at costs no picture. */
function wishPictures({ wishes }: Deps, principal: Principal, rows: readonly ArtifactRow[]): void {
  if (principal.kind !== 'user' || !isOwnSession(principal)) return;
  const lacking = rows.filter(({ thumbnail, live_version_id }) => thumbnail === null && live_version_id !== null);
  wishes.add(lacking.map(({ id }) => id));
}

interface Update extends Conditions {
  readonly user: UserId;
  readonly principal: Principal;
  readonly role: Role;
}

async function updateArtifact(
  deps: Deps,
  call: Update & AuditedCall,
  id: ArtifactId,
  change: ArtifactUpdate,
): Promise<{ row: ArtifactRow; held: boolean }> {
  if (change.slug !== undefined) requireSlug(change.slug);
  const newPasswordHash = await hashPassword(change.password);
  const accounts: Accounts = accountsOf(call.principal);
  const updated = await deps.sql
    .begin(async (tx) => {
      const plan = change.visibility === undefined ? null : { visibility: change.visibility };
      const conditions = await checkSimulated(tx, call, id, plan, deps.clock.nowMs());
      const before = await lockArtifact(tx, id, accounts);
      checkConditions(artifactState(before), conditions);
      const there = await placeAfter(deps, call, before, change.workspace_id);
      const isLeaving = there.workspace_id !== before.workspace_id;
      if (isLeaving) requireMayMoveIn(await publishRuleFor(tx, there.workspace_id, call.principal), before);
      const visibility = decideVisibility({
        requested: change.visibility,
        newPasswordHash,
        current: there.visibility,
        hasPassword: before.has_password,
        tier: await tierIn(tx, call.user, there.workspace_id),
        inWorkspace: there.workspace_id !== null,
      });
      await writeFields(tx, id, { ...before, ...change, ...there }, visibility, changeTimeMs(before, deps.clock.nowMs()));
      await settleWish(tx, id, visibility, call.principal, call.nowMs);
      const row = await requireArtifact(tx, id, accounts);
      const changes = changesOf(before, row);
      if (change.password !== undefined) changes.password = 'changed';
      if (Object.keys(changes).length > 0) await auditArtifact(tx, call, row, 'artifact.update', changes);
      const outsiders = isLeaving ? await accountsOfExternals(tx, await endGrantsOfArtifact(tx, id)) : [];
      return { before, row, held: visibility.held, outsiders };
    })
    .catch((error) => {
      if (violates(error, 'artifact_slug')) throw new Failure('SLUG_TAKEN', { param: 'slug' });
      throw error;
    });
  deps.bus.tell({ artifactId: id, slugs: [...new Set([updated.before.slug, updated.row.slug])], kind: 'artifact.changed' });
  if (updated.outsiders.length > 0) deps.bus.tell({ kind: 'person.changed', userIds: updated.outsiders });
  return updated;
}

/**
 * Where the artifact belongs after a change, and what its visibility is there before any that is asked for: what the members of one workspace
 * see, those of another do not. Throws FORBIDDEN for who does not own the artifact or is no member of the workspace that it goes to.
 */
async function placeAfter({ workspaces }: Deps, { principal, role }: Update, before: ArtifactRow, wished: string | null | undefined) {
  const { workspace_id, folder_id, visibility } = before;
  const stays = { workspace_id, folder_id, visibility };
  if (wished === undefined || wished === workspace_id) return stays;
  const workspaceId = wished === null ? null : await memberOf(workspaces, principal, wished);
  if (workspaceId === workspace_id) return stays;
  if (role !== 'owner' || before.owner_id === null) {
    throw new Failure('FORBIDDEN', {
      param: 'workspace_id',
      message: 'Only the person who owns an artifact may move it between workspaces.',
    });
  }
  return { workspace_id: workspaceId, folder_id: null, visibility: visibility === 'workspace' ? ('private' as const) : visibility };
}
