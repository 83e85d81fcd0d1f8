/** The endpoints of the context of a workspace. */
import { type Conditions, checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { CONTEXT_ENTRY } from '../../../../protocol/workspaces/context.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { checkPath } from '../../artifacts/publish/paths.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { type AuditedCall, audit } from '../audit/audit.ts';
import { readEntry, writeEntry } from './rows.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'bus'>;

interface Choice extends Conditions, AuditedCall {
  readonly workspace: { readonly id: WorkspaceId };
  readonly body: { readonly entry: string | null };
}

export function contextHandlers(deps: Deps): Handlers<'context.get' | 'context.put' | 'context.patch'> {
  return {
    'context.get': async ({ workspace }) => contextReply(await entryOf(deps.sql, workspace.id, false)),
    'context.put': (call) => choose(deps, call),
    'context.patch': (call) => choose(deps, call),
  };
}

async function choose({ sql, bus }: Deps, call: Choice) {
  const { id } = call.workspace;
  const entry = requireEntry(call.body.entry);
  await sql.begin(async (tx) => {
    const before = await entryOf(tx, id, true);
    checkConditions({ etag: contextReply(before).etag }, call);
    await writeEntry(tx, id, entry);
    await audit(tx, call, {
      workspaceId: id,
      action: 'context.update',
      target: { type: 'workspace', id, name: null },
      detail: { from: before, to: entry },
    });
  });
  bus.tell({ kind: 'workspace.changed', workspaceId: id });
  return contextReply(entry);
}

/** Throws WORKSPACE_NOT_FOUND when it was deleted since the call was admitted. */
async function entryOf(sql: Queries, id: WorkspaceId, lock: boolean): Promise<string | null> {
  const entry = await readEntry(sql, id, lock);
  if (entry === undefined) throw new Failure('WORKSPACE_NOT_FOUND');
  return entry;
}

/** Null for the default. Throws INVALID_REQUEST. */
function requireEntry(entry: string | null): string | null {
  if (entry === null || entry === '' || entry === CONTEXT_ENTRY) return null;
  const check = checkPath(entry);
  if (check.ok) return check.path;
  throw new Failure('INVALID_REQUEST', {
    param: 'entry',
    message: `entry: ${check.problem}.`,
    hint: 'Name a file such as guides/start.md.',
  });
}

function contextReply(entry: string | null) {
  const body = { entry: entry ?? CONTEXT_ENTRY };
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}
