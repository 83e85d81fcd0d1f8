/** How the installation is: what is nearly full, what was slow, what is down, what is switched on, what was done. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { DEPENDENCIES } from '../core/operations.ts';
import { tier } from '../people/accounts.ts';
import { auditEntry } from '../workspaces/audit.ts';
import { instanceAdmin, q } from './access.ts';

const count = z.number().int();

export const instanceQuota = z.object({
  kind: z.enum(['account', 'workspace']),
  id: z.string(),
  name: z.string().nullable(),
  tier,
  bytes: count,
  bytes_max: count,
  artifacts: count.nullable().meta({ description: 'null for a workspace, whose artifacts are not limited' }),
  artifacts_max: count.nullable(),
  used: z.number().meta({ description: 'the greater share of the two, 1 where it is full' }),
});

export const slowTurn = z.object({
  at: dateTime,
  ms: z.number().meta({ description: 'for how long nothing else of the process went on' }),
  operation: z.string().meta({ description: 'what the turn did' }),
});

export const instancePart = z.object({
  name: z.enum([...DEPENDENCIES, 'house_work', 'mail_outbox', 'webhooks', 'jobs']),
  state: z.enum(['up', 'degraded', 'down']),
  detail: z.string().nullable(),
  since: dateTime.nullable(),
});

const flagNames = ['sign_up', 'anonymous_accounts', 'file_imports', 'ask'] as const;
export const instanceFlagName = z.enum(flagNames);
export type InstanceFlag = z.infer<typeof instanceFlagName>;

export const instanceFlag = z.object({
  enabled: z.boolean(),
  changed_at: dateTime.nullable().meta({ description: 'null where it was never changed' }),
  changed_by: idSchema('user').nullable(),
});
export const instanceFlagList = z.object({ flags: z.record(instanceFlagName, instanceFlag) });

export const instanceAuditEntry = auditEntry.extend({
  workspace_id: idSchema('workspace').nullable().meta({ description: 'null for what concerns the installation' }),
});

const time = z.iso.datetime({ offset: true }).optional();

export const instanceHealth = {
  'instanceQuotas.list': endpoint({
    method: 'GET',
    path: '/v1/admin/quotas',
    group: 'instance',
    summary: 'Accounts or workspaces, the ones nearest to full first.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object({ ...pageQuery, q, kind: z.enum(['account', 'workspace']).default('account') }),
    replies: { ok: { status: 200, body: z.object({ quotas: z.array(instanceQuota), ...pageReply }) } },
    errors: [],
  }),
  'instanceHealth.slowTurns': endpoint({
    method: 'GET',
    path: '/v1/admin/slow-turns',
    group: 'instance',
    summary: `The last ${LIMITS.slowTurnsKept} turns of the event loop that took long, of the process that answers, newest first.`,
    access: instanceAdmin,
    limit: 'adminCalls',
    replies: { ok: { status: 200, body: z.object({ turns: z.array(slowTurn) }) } },
    errors: [],
  }),
  'instanceHealth.get': endpoint({
    method: 'GET',
    path: '/v1/admin/health',
    group: 'instance',
    summary: 'The state of each part, as the process that answers finds it.',
    access: instanceAdmin,
    limit: 'adminCalls',
    replies: { ok: { status: 200, body: z.object({ state: z.enum(['up', 'degraded', 'down']), parts: z.array(instancePart) }) } },
    errors: [],
  }),
  'instanceFlags.get': endpoint({
    method: 'GET',
    path: '/v1/admin/flags',
    group: 'instance',
    summary:
      'What the installation offers: sign-up of new people, accounts without an address, imports from cloud drives, questions to the model.',
    access: instanceAdmin,
    limit: 'adminCalls',
    conditional: true,
    replies: { ok: { status: 200, body: instanceFlagList } },
    errors: [],
  }),
  'instanceFlags.update': endpoint({
    method: 'PATCH',
    path: '/v1/admin/flags',
    group: 'instance',
    summary: 'Switches what the installation offers on or off, on every node. Who uses what is off gets 403 SWITCHED_OFF.',
    access: instanceAdmin,
    limit: 'adminCalls',
    conditional: true,
    resource: 'instanceFlags.get',
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      // An answer can be sent back.
      schema: z.strictObject({ flags: z.partialRecord(instanceFlagName, z.union([z.boolean(), instanceFlag])) }),
    },
    replies: { ok: { status: 200, body: instanceFlagList } },
    errors: ['VERSION_CONFLICT'],
  }),
  'instanceAudit.list': endpoint({
    method: 'GET',
    path: '/v1/admin/audit',
    group: 'instance',
    summary: 'What was done in the installation and in all its workspaces, newest first: a page as JSON, or all of it as CSV by Accept.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object({
      ...pageQuery,
      action: storedText(100).optional().meta({ description: 'an action, or its resource with a dot: person.' }),
      actor: storedText(100).optional().meta({ description: 'the id of a person or an agent' }),
      target: storedText(100).optional().meta({ description: 'the id of what was changed' }),
      workspace_id: idSchema('workspace').optional(),
      instance: z.stringbool().optional().meta({ description: '1: only what concerns the installation' }),
      from: time.meta({ description: 'not before this time' }),
      to: time.meta({ description: 'before this time' }),
    }),
    replies: {
      ok: { status: 200, body: z.object({ entries: z.array(instanceAuditEntry), ...pageReply }) },
      csv: { status: 200, media: 'text/csv', description: 'Every entry that the filter finds; limit, cursor and count do nothing.' },
    },
    errors: [],
  }),
} as const;
