/** The endpoints of `/v1/workspaces/{workspaceId}/access-policy`. */
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import type { ServiceDeps } from '../../deps.ts';
import { audit } from '../audit/audit.ts';
import { requireActor } from '../members/rows.ts';
import { lockWorkspace, showWorkspace } from '../workspaces/rows.ts';
import { type Policy, writePolicy } from './rows.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'bus'>;

export function accessPolicyHandlers({ sql, bus }: Deps): Handlers<'accessPolicy.get' | 'accessPolicy.put'> {
  return {
    // Read from the database: the ETag must be that of now.
    'accessPolicy.get': async ({ workspace }) => reply(await showWorkspace(sql, workspace.id, [])),
    'accessPolicy.put': async (call) => {
      const { id } = call.workspace;
      const policy: Policy = {
        allowed_domains: [...new Set(call.body.allowed_domains)],
        allowed_emails: [...new Set(call.body.allowed_emails)],
        auto_join: call.body.auto_join,
      };
      await sql.begin(async (tx) => {
        const before = await lockWorkspace(tx, id);
        await requireActor(tx, call, id, 'admin');
        checkConditions({ etag: reply(before).etag }, call);
        await writePolicy(tx, id, policy, call.nowMs);
        await audit(tx, call, {
          workspaceId: id,
          action: 'access_policy.update',
          target: { type: 'workspace', id, name: before.name },
          detail: { from: reply(before).body, to: policy },
        });
      });
      bus.tell({ kind: 'workspace.changed', workspaceId: id });
      return reply(policy);
    },
  };
}

function reply({ allowed_domains, allowed_emails, auto_join }: Policy) {
  const body = { allowed_domains: [...allowed_domains], allowed_emails: [...allowed_emails], auto_join };
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}
