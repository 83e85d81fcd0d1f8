/** Mails about requests for access: to whoever decides, and to who has asked. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { queueMail } from '../../../mail/outbox.ts';
import { composeMail } from '../../../mail/templates/compose.ts';
import { localeOf } from '../../../mail/templates/message.ts';
import { pageUrl } from '../../../platform/config.ts';
import type { ArtifactRow } from '../../artifacts/artifacts/rows.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { readWorkspaceByRef } from '../../workspaces/workspaces/rows.ts';
import { type RequestRow, readAddressee, readOwners } from './rows.ts';

type Config = ServiceDeps['config'];

/** The caller wakes the sender after the commit. */
export async function mailOwners(tx: Queries, config: Config, artifact: ArtifactRow, request: RequestRow, nowMs: number): Promise<void> {
  const owners = await readOwners(tx, artifact, LIMITS.accessRequestMailsMax);
  const workspace = artifact.workspace_id === null ? null : await readWorkspaceByRef(tx, artifact.workspace_id);
  const url = `${config.baseUrl}/access-requests/${request.id}`;
  const facts = {
    by: request.requester_name ?? request.requester_email ?? `User ${request.requester_id.slice(-4)}`,
    email: request.requester_email,
    artifact: artifact.name,
    message: request.message,
    approveUrl: `${url}?action=approve`,
    denyUrl: `${url}?action=deny`,
  };
  const mails = owners.map(({ email, locale }) =>
    composeMail('access_requested', facts, { recipient: email, locale: localeOf(locale, workspace?.locale), artifactId: artifact.id }),
  );
  await queueMail(tx, mails, nowMs);
}

/** A denial names the page as it was asked for: what else it is called is not for strangers. */
export async function mailDecision(
  tx: Queries,
  config: Config,
  request: RequestRow,
  decision: { readonly approved: boolean; readonly by: string; readonly nowMs: number },
): Promise<void> {
  const addressee = await readAddressee(tx, request.requester_id);
  if (addressee === null) return;
  const to = { recipient: addressee.email, locale: localeOf(addressee.locale), artifactId: request.artifact_id };
  const mail = decision.approved
    ? composeMail('access_granted', granted(config, request, decision.by), to)
    : composeMail('access_denied', { artifact: request.asked_slug ?? request.artifact_id }, to);
  await queueMail(tx, [mail], decision.nowMs);
}

function granted(config: Config, { artifact_name, artifact_slug }: RequestRow, by: string) {
  return { by, artifact: artifact_name, role: 'viewer', url: `${pageUrl(config, artifact_slug)}/` } as const;
}
