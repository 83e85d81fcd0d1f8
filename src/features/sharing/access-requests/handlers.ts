/** The endpoints of requests for access. */
import { type ArtifactHead, administers, type UserPrincipal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { AccessRequestId, ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import { ACCESS_REQUEST_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { requireAccepted } from '../../../edge/limits.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { auditArtifact } from '../../artifacts/artifacts/audit.ts';
import { lockArtifact, readHead, readSlugOwner, requireArtifact } from '../../artifacts/artifacts/rows.ts';
import type { LimiterDeps, Queries, ServiceDeps } from '../../deps.ts';
import { readShownName } from '../../people/accounts/rows.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { giveAccount } from '../collaborators/giving.ts';
import { countCollaborators } from '../collaborators/rows.ts';
import { requireRoomForCollaborators } from '../collaborators/rules.ts';
import { mailDecision, mailOwners } from './mails.ts';
import {
  countIncoming,
  countOutgoing,
  type Decider,
  findPending,
  insertRequest,
  listIncoming,
  listOutgoing,
  lockAsking,
  type RequestRow,
  readRequest,
  writeDecision,
} from './rows.ts';
import { presentIncoming, presentOutgoing, requireDecider, requireNoAccess } from './rules.ts';

type Ids = 'accessRequests.create' | 'accessRequests.incoming' | 'accessRequests.outgoing' | 'accessRequests.get' | 'accessRequests.decide';

export interface AccessRequestDeps extends Pick<ServiceDeps, 'sql' | 'config' | 'bus'>, LimiterDeps {
  /** Woken after mail is queued. */
  readonly mail: { wake(): void };
}

type Deps = AccessRequestDeps;
type Asking = Call<Endpoints['accessRequests.create']>;
type Deciding = Call<Endpoints['accessRequests.decide']>;

export function accessRequestHandlers(deps: Deps): Handlers<Ids> {
  const { sql, bus, mail } = deps;
  return {
    'accessRequests.create': async (call) => {
      const asked = await sql.begin((tx) => ask(deps, tx, call));
      if (asked.status === 'created') mail.wake();
      return { reply: 'ok', body: { ok: true, ...asked } };
    },
    'accessRequests.incoming': async ({ principal, query }) => {
      const decider = deciderOf(principal);
      const rows = await listIncoming(sql, decider, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, placeOf);
      const total = query.count ? { total: await countIncoming(sql, decider) } : {};
      return { reply: 'ok', body: { requests: items.map(presentIncoming), ...page, ...total } };
    },
    'accessRequests.outgoing': async ({ principal, query }) => {
      const accounts = accountsOf(principal);
      const rows = await listOutgoing(sql, accounts, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, placeOf);
      const total = query.count ? { total: await countOutgoing(sql, accounts) } : {};
      return { reply: 'ok', body: { requests: items.map(presentOutgoing), ...page, ...total } };
    },
    'accessRequests.get': async ({ principal, params }) => {
      const row = await requireRequest(sql, params.requestId);
      requireDecider(await readHead(sql, row.artifact_id), row, principal);
      return { reply: 'ok', body: presentIncoming(row) };
    },
    'accessRequests.decide': async (call) => {
      const { slug, id } = await sql.begin((tx) => settle(deps, tx, call));
      mail.wake();
      if (call.body.action === 'approve') bus.tell({ kind: 'artifact.changed', artifactId: id, slugs: [slug] });
      return { reply: 'ok', body: { ok: true, action: call.body.action } };
    },
  };
}

const placeOf = ({ created_at_ms, id }: RequestRow) => ({ number: created_at_ms, id });

function deciderOf(principal: Asking['principal']): Decider {
  const seats = principal.kind === 'user' ? [...principal.person.workspaces] : [];
  return { accounts: accountsOf(principal), runs: seats.flatMap(([id, role]) => (administers(role) ? [id] : [])) };
}

/** Throws ARTIFACT_NOT_FOUND, ALREADY_HAS_ACCESS, RATE_LIMITED. */
async function ask(deps: Deps, tx: Queries, call: Asking) {
  const { body, principal, user, nowMs } = call;
  const head = await wanted(tx, body);
  requireNoAccess(head, principal);
  const who = `${(principal as UserPrincipal).person.id} ${head.id}`;
  await lockAsking(tx, who);
  const pending = await findPending(tx, head.id, accountsOf(principal));
  if (pending !== null) return { status: 'pending', id: pending } as const;
  const { again, ofArtifact } = ACCESS_REQUEST_LIMITS;
  requireAccepted(again, await deps.limiters.shared.spendIn(tx, again, who), 'You have asked for this artifact several times.');
  requireAccepted(ofArtifact, await deps.limiters.shared.spendIn(tx, ofArtifact, head.id), 'Many people ask for this artifact.');
  const askedSlug = body.slug ?? null;
  const id = await insertRequest(tx, { artifactId: head.id, requesterId: user, askedSlug, message: body.message || null, nowMs });
  const row = await requireArtifact(tx, head.id, []);
  await auditArtifact(tx, call, row, 'access_request.create');
  await mailOwners(tx, deps.config, row, await requireRequest(tx, id), nowMs);
  return { status: 'created', id } as const;
}

/** The artifact that is asked for. What is in the trash does not exist. Throws ARTIFACT_NOT_FOUND. */
async function wanted(sql: Queries, { slug, artifact_id }: Asking['body']): Promise<ArtifactHead> {
  const param = slug === undefined ? 'artifact_id' : 'slug';
  const id = artifact_id ?? (await readSlugOwner(sql, slug ?? ''))?.id;
  const head = id === undefined ? null : await readHead(sql, id);
  if (head === null || head.deletedAtMs !== null) {
    throw new Failure('ARTIFACT_NOT_FOUND', { param, message: 'There is no such artifact.', hint: `Check the ${param}.` });
  }
  return head;
}

/** Throws ACCESS_REQUEST_NOT_FOUND, FORBIDDEN, ALREADY_DECIDED, ADDRESS_NOT_ALLOWED, COLLABORATOR_LIMIT_EXCEEDED. */
async function settle(deps: Deps, tx: Queries, call: Deciding): Promise<{ readonly id: ArtifactId; readonly slug: string }> {
  const { params, principal, user, body, nowMs } = call;
  const approved = body.action === 'approve';
  const request = await requireRequest(tx, params.requestId);
  requireDecider(await readHead(tx, request.artifact_id), request, principal);
  const row = await lockArtifact(tx, request.artifact_id, accountsOf(principal));
  // Again under the lock: it may have been given away meanwhile.
  requireDecider(await readHead(tx, row.id), request, principal);
  if (call.refusal !== undefined) throw call.refusal;
  const status = approved ? 'approved' : 'denied';
  if (!(await writeDecision(tx, request.id, { status, by: user, nowMs }))) throw new Failure('ALREADY_DECIDED');
  await auditArtifact(tx, call, row, `access_request.${body.action}`, { requester: request.requester_email ?? request.requester_id });
  if (approved) await letIn(tx, call, row, request.requester_id);
  await mailDecision(tx, deps.config, { ...request, artifact_slug: row.slug }, { approved, by: await shownName(tx, user), nowMs });
  return row;
}

async function letIn(tx: Queries, call: Deciding, row: Awaited<ReturnType<typeof lockArtifact>>, requesterId: UserId): Promise<void> {
  await giveAccount(tx, call, row, requesterId, { email: null, role: 'viewer' });
  requireRoomForCollaborators(await countCollaborators(tx, row.id));
}

async function shownName(sql: Queries, userId: UserId): Promise<string> {
  return (await readShownName(sql, userId))?.name ?? 'The owner';
}

async function requireRequest(sql: Queries, id: AccessRequestId): Promise<RequestRow> {
  const row = await readRequest(sql, id);
  if (row === null) throw new Failure('ACCESS_REQUEST_NOT_FOUND');
  return row;
}
