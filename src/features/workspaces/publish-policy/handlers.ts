/** The endpoints of `/v1/workspaces/{workspaceId}/publish-policy` and of what waits for approval. */
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { audit } from '../audit/audit.ts';
import { countReviewers, countWaiting, listWaiting, lockPolicy, readPolicy, type WaitingRow, writePolicy } from './rows.ts';
import { requireEnoughReviewers } from './rules.ts';

type Ids = 'publishPolicy.get' | 'publishPolicy.update' | 'publishPolicy.waiting';

export function publishPolicyHandlers({ sql, bus }: Pick<ServiceDeps, 'sql' | 'bus'>): Handlers<Ids> {
  return {
    'publishPolicy.get': async ({ workspace }) => {
      const body = await readPolicy(sql, workspace.id);
      return { reply: 'ok', body, etag: bodyEtag(body) };
    },
    'publishPolicy.update': async (call) => {
      const { workspace, body: change } = call;
      const policy = await sql.begin(async (tx) => {
        const before = await lockPolicy(tx, workspace.id);
        checkConditions({ etag: bodyEtag(before) }, call);
        const after = { ...before, ...change };
        if (after.policy === 'require_approval') requireEnoughReviewers(after.approvals_required, await countReviewers(tx, workspace.id));
        if (call.refusal !== undefined) throw call.refusal;
        await writePolicy(tx, workspace.id, after);
        await audit(tx, call, {
          workspaceId: workspace.id,
          action: 'publish_policy.update',
          target: { type: 'workspace', id: workspace.id, name: null },
          detail: { before, after },
        });
        return after;
      });
      bus.tell({ kind: 'workspace.changed', workspaceId: workspace.id });
      return { reply: 'ok', body: policy, etag: bodyEtag(policy) };
    },
    'publishPolicy.waiting': async ({ workspace, principal, query }) => {
      const authors = workspace.role === 'member' ? accountsOf(principal) : null;
      const { approvals_required: needed } = await readPolicy(sql, workspace.id);
      const rows = await listWaiting(sql, workspace.id, authors, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.waiting_since_ms, id: row.version_id }));
      const total = query.count ? { total: await countWaiting(sql, workspace.id, authors) } : {};
      return { reply: 'ok', body: { waiting: items.map((row) => present(row, needed)), ...page, ...total } };
    },
  };
}

function present(row: WaitingRow, approvalsRequired: number) {
  return {
    artifact: { id: row.artifact_id, name: row.artifact_name, slug: row.artifact_slug },
    version_id: row.version_id,
    version_no: row.version_no,
    label: row.label,
    note: row.note,
    author: row.author_id === null ? null : { id: row.author_id, name: row.author_name },
    waiting_since: dateTime(row.waiting_since_ms),
    approved_by: row.approved_by,
    approvals_required: approvalsRequired,
  };
}
