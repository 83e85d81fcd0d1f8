/** Mail on behalf of the page, in the name of who has made the job. */
import type { MailAttachment } from '../../../../../protocol/automation/email.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import type { ArtifactId, TemplateId, UserId } from '../../../../../protocol/core/ids.ts';
import type { Queries } from '../../../deps.ts';
import type { Accounts } from '../../../people/accounts/rules.ts';
import { requireAttachable } from '../../email/attachments.ts';
import { queuePageMail } from '../../email/queue.ts';
import { requireUsable } from '../../templates/finding.ts';
import { rehearseMail } from '../../templates/rehearsal.ts';
import { renderTemplate } from '../../templates/render.ts';
import type { RunEvents } from '../runs.ts';
import type { Action } from './action.ts';

interface EmailConfig {
  readonly to: readonly string[];
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly template_id?: TemplateId;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly attachments?: readonly MailAttachment[];
}

interface Sent {
  readonly job: { readonly artifact_id: ArtifactId; readonly title: string };
  readonly config: Readonly<Record<string, unknown>>;
  readonly events: RunEvents | null;
  /** Whose templates it may use beside those of the artifact. */
  readonly accounts: Accounts;
  /** Whose files may go along. */
  readonly userId: UserId;
}

/** Throws TEMPLATE_NOT_FOUND, and INVALID_REQUEST where the values do not suit the template. */
async function mailOf(sql: Queries, { job, config, events, accounts }: Sent) {
  const { to, subject, text, html, template_id, data = {} } = config as unknown as EmailConfig;
  if (template_id === undefined) return { to, subject: subject ?? job.title, text, html };
  const template = await requireUsable(sql, template_id, job.artifact_id, accounts);
  const rendered = renderTemplate(template, events === null ? data : { events, ...data });
  return { to, subject: subject ?? rendered.subject, text: rendered.text, html: rendered.html };
}

/** Throws FILE_NOT_FOUND, ATTACHMENTS_TOO_LARGE. */
function filesOf(sql: Queries, { config, userId }: Pick<Sent, 'config' | 'userId'>, nowMs: number) {
  return requireAttachable(sql, (config as unknown as EmailConfig).attachments ?? [], userId, nowMs);
}

/** Before a job with this config is stored. Throws as `mailOf` and `filesOf` do, with the field of the job. */
export async function requireMailConfig(sql: Queries, sent: Omit<Sent, 'events'>, nowMs: number): Promise<void> {
  try {
    await mailOf(sql, { ...sent, events: null });
    await filesOf(sql, sent, nowMs);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { param, message } = error.details;
    throw new Failure(error.code, {
      ...error.details,
      ...(param !== undefined && { param: `config.${param}` }),
      ...(param !== undefined && message?.startsWith(param) && { message: `config.${message}` }),
    });
  }
}

export const email: Action = {
  async run({ sql, limiters, clock, mail }, run) {
    const { to, subject, text, html } = await mailOf(sql, run);
    return {
      error: null,
      output: `To ${to.join(', ')}: ${subject}`,
      record: async (tx) => {
        const { artifact_id: artifactId, creator_id: senderUserId } = run.job;
        const nowMs = clock.nowMs();
        const attachments = await filesOf(tx, { config: run.config, userId: senderUserId }, nowMs);
        await queuePageMail(tx, { artifactId, senderUserId, to, subject, text, html, attachments, nowMs, limiters });
      },
      recorded: () => mail.wake(),
    };
  },
  async rehearse(deps, run) {
    const { to, subject } = await mailOf(deps.sql, run);
    const { artifact_id: artifactId, creator_id: userId } = run.job;
    const nowMs = deps.clock.nowMs();
    const files = await filesOf(deps.sql, run, nowMs);
    const lowercase = to.map((address) => address.toLowerCase());
    const { would, refused } = await rehearseMail(deps, { artifactId, userId, to: lowercase, subject, nowMs });
    const suppressed = would.send.filter(({ status }) => status === 'suppressed').map((mail) => mail.to);
    const sent = would.send.filter(({ status }) => status === 'queued').map((mail) => mail.to);
    return {
      error: refused === null ? null : refused.error,
      output: suppressed.length === 0 ? null : `No mail of this page goes to ${suppressed.join(', ')}.`,
      send: sent.length === 0 ? [] : [{ to: sent, subject, attachments: files.map(({ filename }) => filename) }],
    };
  },
};
