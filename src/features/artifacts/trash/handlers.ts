/** The endpoints of the trash: an artifact stays in it for 30 days, unserved and unlisted, and can be restored. */
import { type Conditions, checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { violates } from '../../../storage/pg-errors.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { AuditedCall } from '../../workspaces/audit/audit.ts';
import { memberOf } from '../../workspaces/folders/places.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import { auditArtifact } from '../artifacts/audit.ts';
import { artifactEtag, artifactState } from '../artifacts/conditions.ts';
import { viewerOf } from '../artifacts/lists.ts';
import { presentArtifact } from '../artifacts/present.ts';
import { type ArtifactRow, lockArtifact, lockRow, RETENTION_MS, readArtifact, requireArtifact } from '../artifacts/rows.ts';
import { changeTimeMs } from '../artifacts/rules.ts';
import { freeSlug } from '../artifacts/slugs.ts';
import { countTrash, listTrash, writeDeleted, writeRestored } from './rows.ts';
import { requireRestorable } from './rules.ts';

export type TrashDeps = Pick<ServiceDeps, 'sql' | 'clock' | 'bus' | 'config'> & { readonly workspaces: WorkspaceDirectory };
type Deps = TrashDeps;

export function trashHandlers(deps: Deps): Handlers<'artifacts.delete' | 'artifacts.restore' | 'artifacts.listDeleted'> {
  const { sql, clock, config } = deps;
  return {
    'artifacts.delete': async (call) => {
      const { row, deletedAtMs } = await trashArtifact(deps, call.params.id, call);
      const until = dateTime(deletedAtMs + RETENTION_MS);
      return {
        reply: 'ok',
        body: {
          success: true,
          deleted: row.id,
          deleted_at: dateTime(deletedAtMs),
          recoverable_until: until,
          retention_days: LIMITS.trashRetentionDays,
          restore_url: `${config.baseUrl}/v1/artifacts/${row.id}/restore`,
          message: `"${row.name}" is in the trash. POST to restore_url before ${until} takes it out again.`,
        },
      };
    },
    'artifacts.restore': async (call) => {
      const row = await restoreArtifact(deps, call, call.params.id);
      return { reply: 'ok', body: presentArtifact(row, config, call.principal), etag: artifactEtag(row) };
    },
    'artifacts.listDeleted': async ({ principal, query }) => {
      const trash = {
        viewer: viewerOf(principal),
        workspaceId: query.workspace_id === undefined ? null : await memberOf(deps.workspaces, principal, query.workspace_id),
        sinceMs: clock.nowMs() - RETENTION_MS,
      };
      const rows = await listTrash(sql, trash, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.deleted_at_ms ?? 0, id: row.id }));
      const total = query.count ? { total: await countTrash(sql, trash) } : {};
      return { reply: 'ok', body: { artifacts: items.map((row) => presentArtifact(row, config, principal)), ...page, ...total } };
    },
  };
}

async function trashArtifact(deps: Deps, id: ArtifactId, call: Conditions & AuditedCall) {
  const trashed = await deps.sql.begin(async (tx) => {
    const row = await lockArtifact(tx, id, []);
    checkConditions(artifactState(row), call);
    const deletedAtMs = deps.clock.nowMs();
    await writeDeleted(tx, id, deletedAtMs, changeTimeMs(row, deletedAtMs));
    await auditArtifact(tx, call, row, 'artifact.delete');
    return { row, deletedAtMs };
  });
  deps.bus.tell({ artifactId: id, slugs: [trashed.row.slug], kind: 'artifact.gone' });
  return trashed;
}

const RESTORE_TRIES_MAX = 5;

async function restoreArtifact(deps: Deps, call: AuditedCall, id: ArtifactId): Promise<ArtifactRow> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const row = await deps.sql.begin((tx) => restoreOnce(tx, call, id, { nowMs: deps.clock.nowMs(), isRetry: attempt > 1 }));
      deps.bus.tell({ artifactId: id, slugs: [row.slug], kind: 'artifact.changed' });
      return row;
    } catch (error) {
      // Another transaction took the slug between the check and the update: the next attempt takes a suffixed one.
      if (!violates(error, 'artifact_slug')) throw error;
      if (attempt === RESTORE_TRIES_MAX) {
        throw new Failure('SLUG_TAKEN', {
          message: 'Every slug that was tried for the restored artifact was taken at the same moment.',
          hint: 'Restore it again.',
        });
      }
    }
  }
}

interface Attempt {
  readonly nowMs: number;
  readonly isRetry: boolean;
}

async function restoreOnce(tx: Queries, call: AuditedCall, id: ArtifactId, { nowMs, isRetry }: Attempt): Promise<ArtifactRow> {
  const accounts = accountsOf(call.principal);
  await lockRow(tx, id);
  const row = requireRestorable(await readArtifact(tx, id, accounts), nowMs);
  await writeRestored(tx, id, await freeSlug(tx, row.slug, isRetry), changeTimeMs(row, nowMs));
  const restored = await requireArtifact(tx, id, accounts);
  await auditArtifact(tx, call, restored, 'artifact.restore', { slug: restored.slug });
  return restored;
}
