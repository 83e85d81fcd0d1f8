/** The endpoints that approve versions. */
import { type ArtifactHead, decide, type Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { readPolicy, runsWorkspace } from '../../workspaces/publish-policy/rows.ts';
import { auditArtifact } from '../artifacts/audit.ts';
import { type ArtifactRow, lockArtifact, requireArtifact, writePointers } from '../artifacts/rows.ts';
import { changeTimeMs } from '../artifacts/rules.ts';
import { lockVersion, type VersionRow } from '../versions/rows.ts';
import { sightOf } from '../versions/rules.ts';
import { countApprovers, deleteApprovals, insertApproval, isAuthor, listApprovals, listOwnApprovals, publishApproved } from './rows.ts';
import { mayReview, type ReviewSight, requireNotAuthor, requireOpen, requireReviewer, sightOfReview } from './rules.ts';

export interface ReviewDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'bus'> {
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
}

type ReviewCall = Call<Endpoints['reviews.approve']> | Call<Endpoints['reviews.withdraw']>;

export function reviewHandlers(deps: ReviewDeps): Handlers<'reviews.state' | 'reviews.approve' | 'reviews.withdraw'> {
  const { sql, bus, clock, heads } = deps;
  return {
    'reviews.state': async ({ principal, query: { artifactId } }) => {
      const head = await heads.get(artifactId);
      if (head === null || decide(head, principal, 'view', null) !== 'allowed') {
        throw new Failure('ARTIFACT_NOT_FOUND', { param: 'artifactId' });
      }
      const body = await readReviewState(sql, artifactId, principal, sightOfReview(head, principal));
      return { reply: 'ok', body };
    },
    'reviews.approve': async (call) => {
      const { id } = call.params;
      const before = await sql.begin(async (tx) => {
        const { row, version } = await lockForReview(tx, call);
        requireNotAuthor(await isAuthor(tx, version.id, call.user));
        const isNew = await insertApproval(tx, version.id, call.user, accountsOf(call.principal), clock.nowMs());
        const published =
          version.waiting_since_ms !== null && (await publishIfApproved(tx, row, version, call.body.make_live, clock.nowMs()));
        if (isNew || published) {
          const action = published ? 'version.publish_approved' : 'version.approve';
          await auditArtifact(tx, call, row, action, named(version));
        }
        return row;
      });
      bus.tell({ kind: 'artifact.changed', artifactId: id, slugs: [before.slug] });
      return { reply: 'ok', body: await stateOf(sql, call) };
    },
    'reviews.withdraw': async (call) => {
      await sql.begin(async (tx) => {
        const { row, version } = await lockForReview(tx, call);
        requireOpen(version);
        const removed = await deleteApprovals(tx, version.id, accountsOf(call.principal));
        if (removed > 0) await auditArtifact(tx, call, row, 'version.withdraw_approval', named(version));
      });
      return { reply: 'ok', body: await stateOf(sql, call) };
    },
  };
}

/** The artifact locked, so that approvals are counted in one order, and the version. Throws FORBIDDEN, VERSION_NOT_FOUND. */
async function lockForReview(tx: Queries, call: ReviewCall): Promise<{ row: ArtifactRow; version: VersionRow }> {
  const { principal, params, role, head } = call;
  const accounts = accountsOf(principal);
  const row = await lockArtifact(tx, params.id, accounts);
  // The role of now: the one that the call came with may have been taken away.
  const isReviewer = row.workspace_id === null ? mayReview(head, principal, role) : await runsWorkspace(tx, row.workspace_id, accounts);
  requireReviewer(isReviewer);
  if (call.refusal !== undefined) throw call.refusal;
  return { row, version: await lockVersion(tx, params.id, params.version, { ...sightOf(call), waiting: true }) };
}

/** Whether this was the last approval that the version needed. A newer live version and a pin stay, unless the reviewer says otherwise. */
async function publishIfApproved(tx: Queries, row: ArtifactRow, version: VersionRow, makeLive: boolean, nowMs: number): Promise<boolean> {
  const { workspace_id: workspaceId } = row;
  if (workspaceId !== null) {
    const { policy, approvals_required: needed } = await readPolicy(tx, workspaceId);
    if ((await countApprovers(tx, version.id, workspaceId)) < (policy === 'require_approval' ? needed : 1)) return false;
  }
  await publishApproved(tx, version.id, nowMs);
  const isPinned = row.pinned_version_id !== null;
  const isNewest = row.live_version_no === null || version.version_no > row.live_version_no;
  const live = makeLive || (!isPinned && isNewest) ? version.id : row.live_version_id;
  const pinned = makeLive && isPinned ? version.id : row.pinned_version_id;
  await writePointers(tx, row.id, { live, pinned }, changeTimeMs(row, nowMs));
  return true;
}

function named({ id, version_no }: VersionRow) {
  return { version_id: id, version_no };
}

async function stateOf(sql: Queries, { principal, params, head }: ReviewCall) {
  return readReviewState(sql, params.id, principal, sightOfReview(head, principal));
}

/** Source: spec.md, "Review state". */
async function readReviewState(sql: Queries, id: ArtifactId, principal: Principal, { canReview, seesApprovals }: ReviewSight) {
  const accounts = accountsOf(principal);
  const row = await requireArtifact(sql, id, accounts);
  const approvals = seesApprovals ? await listApprovals(sql, id, LIMITS.approvalsShownMax) : [];
  return {
    live_version_id: row.live_version_id,
    live_version_no: row.live_version_no,
    can_review: canReview,
    approvals: approvals.map(({ created_at_ms, ...approval }) => ({ ...approval, created_at: dateTime(created_at_ms) })),
    my_approvals: await listOwnApprovals(sql, id, accounts, LIMITS.approvalsShownMax),
  };
}
