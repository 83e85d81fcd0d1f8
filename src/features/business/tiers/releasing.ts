/** One step of releasing held visibilities: a bounded transaction that can be repeated by any process at any time. */
import { decide } from '../../../../actors/access/access.ts';
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import type { Fact } from '../../../platform/bus.ts';
import { readHead } from '../../artifacts/artifacts/rows.ts';
import { addNotices, type NewNotice } from '../../automation/notifications/notices.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { readUsableStandings, type Standing } from '../../people/persons/rows.ts';
import { asAgent, asPrincipal } from '../../sharing/explain/evaluate.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { dropHeld, type HeldScope, type LockedHeld, listHeld, listOwners, lockHeld, makePublic } from './held-rows.ts';
import { PUBLIC_TIERS } from './rules.ts';

/** Artifacts of one transaction, which holds their rows, and held ones that one statement looks at. */
const RELEASED_AT_ONCE = 50;
const LOOKED_AT = 500;
/** Owners of a workspace who are told of what the workspace itself owns. */
const OWNERS_TOLD_MAX = 20;

type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'bus'>;

/** Releases everything in a scope that may be public by now, step by step, and answers how many became public. Ends early by `signal`. */
export async function releaseHeld(deps: Deps, scope: HeldScope, signal: AbortSignal): Promise<number> {
  let released = 0;
  let after = '';
  while (!signal.aborted) {
    const held = await listHeld(deps.sql, scope, PUBLIC_TIERS, after, LOOKED_AT);
    const due = held.flatMap(({ id, isAllowed }) => (isAllowed ? [id] : []));
    for (let from = 0; from < due.length && !signal.aborted; from += RELEASED_AT_ONCE) {
      released += await releaseSome(deps, due.slice(from, from + RELEASED_AT_ONCE));
    }
    if (held.length < LOOKED_AT) break;
    after = held.at(-1)?.id ?? after;
  }
  return released;
}

/** Decides about each under its lock, so that two processes release it once, and a change made meanwhile counts. */
async function releaseSome({ sql, clock, bus }: Deps, ids: readonly ArtifactId[]): Promise<number> {
  const { released, notices } = await sql.begin(async (tx) => {
    const nowMs = clock.nowMs();
    const locked = (await lockHeld(tx, ids, PUBLIC_TIERS)).filter(({ isAllowed }) => isAllowed);
    const granted = await stillEntitled(tx, locked, nowMs);
    const released = locked.filter(({ id }) => granted.has(id));
    await dropHeld(
      tx,
      locked.flatMap(({ id }) => (granted.has(id) ? [] : [id])),
    );
    await makePublic(
      tx,
      released.map(({ id }) => id),
      nowMs,
    );
    for (const row of released) await record(tx, row, nowMs);
    return { released, notices: await addNotices(tx, await noticesOf(tx, released), nowMs) };
  });
  for (const { id, slug } of released) bus.tell({ kind: 'artifact.changed', artifactId: id, slugs: [slug] });
  if (notices.userIds.length > 0) bus.tell(notices satisfies Fact);
  return released.length;
}

/** Those whose requester may still change who sees them. */
async function stillEntitled(tx: Queries, rows: readonly LockedHeld[], nowMs: number): Promise<ReadonlySet<ArtifactId>> {
  const askers = [...new Set(rows.flatMap(({ userId }) => userId ?? []))];
  const standings = askers.length === 0 ? new Map<UserId, Standing>() : await readUsableStandings(tx, askers, nowMs);
  const entitled = new Set<ArtifactId>();
  for (const row of rows) {
    const standing = row.userId === null ? undefined : standings.get(row.userId);
    const agent = row.agentId === null || row.workspace_id === null ? undefined : asAgent(row.workspace_id);
    const principal = standing === undefined ? agent : asPrincipal(standing.person);
    if (principal !== undefined && decide(await readHead(tx, row.id), principal, 'edit', null) === 'allowed') entitled.add(row.id);
  }
  return entitled;
}

async function record(tx: Queries, row: LockedHeld, nowMs: number): Promise<void> {
  const { id, name, workspace_id, visibility, userId, agentId, agentName } = row;
  if (workspace_id === null) return;
  const principal =
    userId === null
      ? { ...asAgent(workspace_id), ...(agentId !== null && { principalId: agentId }), name: agentName ?? '' }
      : ({ kind: 'user', userId } as const);
  const detail = { visibility: { from: visibility, to: 'public' }, held: true };
  // Nobody calls: it was asked for before, and the plan has changed since.
  await audit(
    tx,
    { principal, address: '', requestId: '', nowMs },
    {
      workspaceId: workspace_id,
      action: 'artifact.update',
      target: { type: 'artifact', id, name },
      detail,
    },
  );
}

/** One for each person who is told, however many there are. */
async function noticesOf(tx: Queries, rows: readonly LockedHeld[]): Promise<NewNotice[]> {
  const ownerless = rows.filter(({ owner_id }) => owner_id === null).flatMap(({ workspace_id }) => workspace_id ?? []);
  const owners = ownerless.length === 0 ? [] : await listOwners(tx, [...new Set(ownerless)], OWNERS_TOLD_MAX);
  const told = new Map<UserId, LockedHeld[]>();
  for (const row of rows) {
    const people =
      row.owner_id === null
        ? owners.filter(({ workspaceId }) => workspaceId === row.workspace_id).map(({ userId }) => userId)
        : [row.owner_id];
    for (const userId of people) told.set(userId, [...(told.get(userId) ?? []), row]);
  }
  return [...told].map(([userId, theirs]) => noticeFor(userId, theirs));
}

function noticeFor(userId: UserId, rows: readonly LockedHeld[]): NewNotice {
  const [first] = rows;
  const one = rows.length === 1 ? first : undefined;
  return {
    userId,
    kind: 'artifact.public',
    title: one === undefined ? `${rows.length} pages are public now` : `"${one.name}" is public now`,
    body: `The plan allows it now, and public was asked for before: ${rows.map(({ name }) => name).join(', ')}`,
    artifactId: one?.id ?? null,
    url: one === undefined ? null : `/p/${one.id}`,
  };
}
