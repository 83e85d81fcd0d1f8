/** The endpoints of `/v1/workspaces/{workspaceId}/features`. */
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { Feature } from '../../../../protocol/workspaces/features.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { featuresOf } from '../../business/tiers/rules.ts';
import type { ServiceDeps } from '../../deps.ts';
import { audit } from '../audit/audit.ts';
import type { WorkspaceDirectory } from '../workspaces/directory.ts';
import { type FeatureFlag, lockWorkspace, type WorkspaceRow } from '../workspaces/rows.ts';
import { deleteFlag, putFlag } from './rows.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'bus'> & { readonly workspaces: WorkspaceDirectory };

export function featureHandlers({ sql, bus, workspaces }: Deps): Handlers<'features.get' | 'features.update'> {
  return {
    'features.get': async ({ workspace }) => reply(await found(workspaces, workspace.id)),
    'features.update': async (call) => {
      const { id } = await found(workspaces, call.params.workspaceId);
      const wanted = Object.entries(call.body.features).map(([feature, value]) => [feature as Feature, flagOf(value)] as const);
      // Nothing to write: administrators read so of a workspace that they are not in.
      if (wanted.length === 0) {
        const now = await found(workspaces, id);
        checkConditions({ etag: reply(now).etag }, call);
        return reply(now);
      }
      const row = await sql.begin(async (tx) => {
        const before = await lockWorkspace(tx, id);
        checkConditions({ etag: reply(before).etag }, call);
        for (const [feature, flag] of wanted) {
          if (flag === null) await deleteFlag(tx, id, feature);
          else await putFlag(tx, id, feature, flag);
        }
        const target = { type: 'workspace', id, name: before.name };
        await audit(tx, call, { workspaceId: id, action: 'features.update', target, detail: call.body.features });
        return lockWorkspace(tx, id);
      });
      bus.tell({ kind: 'workspace.changed', workspaceId: id });
      return reply(row);
    },
  };
}

async function found(workspaces: WorkspaceDirectory, ref: string): Promise<WorkspaceRow> {
  const row = await workspaces.get(ref);
  if (row === null) throw new Failure('WORKSPACE_NOT_FOUND');
  return row;
}

type Wanted = boolean | null | undefined | { readonly enabled: boolean; readonly source: 'plan' | 'workspace' | 'instance' };

/** Null leaves the feature to the plan. */
function flagOf(wanted: Wanted): FeatureFlag | null {
  if (wanted === null || wanted === undefined) return null;
  if (typeof wanted === 'boolean') return { enabled: wanted, source: 'instance' };
  const { enabled, source } = wanted;
  return source === 'plan' ? null : { enabled, source };
}

function reply(row: WorkspaceRow) {
  const body = { features: featuresOf(row) };
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}
