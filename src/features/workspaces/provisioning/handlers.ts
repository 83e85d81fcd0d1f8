/** The endpoint that makes a workspace ready for a customer. */
import type { z } from 'zod';
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ProvisionRequest, provisionReply } from '../../../../protocol/workspaces/provisioning.ts';
import type { Handlers } from '../../../edge/call.ts';
import { requireSlug } from '../../artifacts/artifacts/slugs.ts';
import { addConnection } from '../../library/connections/connections.ts';
import { hasConnectionNamed } from '../../library/connections/rows.ts';
import type { ModuleDeps } from '../../module.ts';
import { lockWorkspace } from '../workspaces/rows.ts';
import { type AdminDeps, type AdminReport, adminsResult, settleAdmins } from './admins.ts';
import { applyBranding, applyPolicy, makeFolders, SKIPPED } from './settings-steps.ts';
import { type Provisioner, type StepResult, Steps } from './steps.ts';
import { type Adopted, takeWorkspace } from './workspace-step.ts';

export type ProvisioningDeps = AdminDeps & Pick<ModuleDeps, 'clock' | 'sealer'>;

export function provisioningHandlers(deps: ProvisioningDeps): Handlers<'provisioning.provision'> {
  return {
    'provisioning.provision': async (call) => {
      const startedMs = deps.clock.monotonicMs();
      const by = provisioner(call);
      requireSlug(call.body.slug);
      const adopted = await begin(deps, by, call.body);
      const { steps, admins } = await complete(deps, by, adopted, call.body);
      const body = report(deps, adopted, steps, admins, call.body);
      const duration_ms = Math.round(deps.clock.monotonicMs() - startedMs);
      const reply = body.ok ? (adopted.created ? 'created' : 'ok') : 'partial';
      return { reply, body: { ...body, duration_ms } };
    },
  };
}

/** Field by field: those of a call are accessors, which a spread leaves out. Throws ADMIN_REQUIRED for tokens of external people. */
function provisioner({
  principal,
  address,
  requestId,
  nowMs,
}: Omit<Provisioner, 'principal' | 'user'> & { readonly principal: Principal }): Provisioner {
  if (principal.kind !== 'user' || principal.tokenKind === 'external') throw new Failure('ADMIN_REQUIRED');
  return { principal, address, requestId, nowMs, user: principal.userId };
}

/** Without the workspace there is nothing to go on with, so this step fails the call. */
async function begin(deps: ProvisioningDeps, by: Provisioner, body: ProvisionRequest): Promise<Adopted> {
  const adopted = await deps.sql.begin(async (tx) => {
    const taken = await takeWorkspace(tx, by, deps.config.DEFAULT_TIER, body);
    await new Steps(deps, by, taken.row).record(tx, 'workspace', taken.result);
    return taken;
  });
  if (adopted.result.status !== 'unchanged') deps.bus.tell({ kind: 'workspace.changed', workspaceId: adopted.row.id });
  return adopted;
}

async function complete(deps: ProvisioningDeps, by: Provisioner, { row, result }: Adopted, body: ProvisionRequest) {
  const { id } = row;
  const steps = new Steps(deps, by, row);
  steps.reports.push({ step: 'workspace', ...result });
  await steps.run('branding', (tx) => applyBranding(tx, by, id, body));
  await steps.run('policy', (tx) => applyPolicy(tx, by, id, body));
  deps.bus.tell({ kind: 'workspace.changed', workspaceId: id });
  await steps.run('folders', (tx) => makeFolders(tx, by, id, body));
  deps.bus.tell({ kind: 'folder.changed', workspaceId: id, ownerId: null });
  let admins: AdminReport[] = [];
  await steps.runApart('admins', async () => {
    admins = await settleAdmins(deps, by, id, body);
    return adminsResult(admins);
  });
  for (const connector of body.connectors) {
    await steps.run(`connector:${connector.name}`, async (tx): Promise<StepResult> => {
      await lockWorkspace(tx, id);
      if (await hasConnectionNamed(tx, id, connector.name)) return { status: 'unchanged', detail: {} };
      const made = await addConnection({ tx, sealer: deps.sealer, workspaceId: id }, by, connector);
      return { status: 'created', detail: { id: made, type: connector.type } };
    });
  }
  await steps.run('templates', async () => later(body.templates, 'template sets', 'templates'));
  await steps.run('custom_domain', async () => later(body.custom_domain, 'custom domains', 'custom_domain'));
  return { steps: steps.reports, admins };
}

function later(given: string | undefined, what: string, field: string): StepResult {
  if (given === undefined) return SKIPPED;
  const next_step = `Run the same request again once the instance has ${what}.`;
  return { status: 'pending', detail: { [field]: given }, next_step };
}

type Report = Omit<z.input<typeof provisionReply>, 'duration_ms'>;

function report(
  { config }: Pick<ProvisioningDeps, 'config'>,
  { row, created }: Adopted,
  steps: Report['steps'],
  admins: readonly AdminReport[],
  { subdomain }: ProvisionRequest,
): Report {
  const { id, name, slug, locale } = row;
  const address = `${config.baseUrl}/v1/workspaces/${slug}`;
  const next = steps.flatMap(({ next_step }) => next_step ?? []);
  for (const { email, invite_url, status, email_sent } of admins) {
    if (invite_url !== undefined) next.push(`Give ${email} the link in invite_url, because the mail did not go out.`);
    else if (status === 'already_invited' && !email_sent)
      next.push(`Send resend_invites for a new link for ${email}, because the mail did not go out.`);
  }
  if (subdomain) next.push('Run the same request again once the instance has subdomains of workspaces.');
  return {
    ok: steps.every(({ status }) => status !== 'failed'),
    created,
    workspace: { id, name, slug, locale },
    links: { home: address, admin: `${address}/members`, subdomain: null, instance_admin: `${address}/features` },
    admins: [...admins],
    steps,
    next_steps: [...new Set(next)],
  };
}
