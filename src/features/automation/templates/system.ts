/** The mails of the service that a workspace can replace, as templates. The built-in ones are made of the same texts that are sent. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { saidByAlert } from '../../../mail/templates/automation.ts';
import { composeMail, type FactsOf, type Mail } from '../../../mail/templates/compose.ts';
import { type Locale, named, quoted } from '../../../mail/templates/message.ts';
import { roleWords } from '../../../mail/templates/notices.ts';
import type { Queries } from '../../deps.ts';
import { type MailTemplate, renderTemplate } from './render.ts';
import { readWorkspaceMail } from './system-rows.ts';
import type { TemplateVariable } from './variables.ts';

export type SystemMailKind = 'invite' | 'alert' | 'notice';

export const SYSTEM_MAILS: readonly SystemMailKind[] = ['invite', 'alert', 'notice'];

const variable = (name: string, description: string): TemplateVariable => ({ name, type: 'string', description });
const LINK = variable('url', 'where the mail leads; it must be in the template');
export const SYSTEM_VARIABLES: Readonly<Record<SystemMailKind, readonly TemplateVariable[]>> = {
  invite: [
    variable('by', 'who invites'),
    variable('workspace', 'the name of the workspace'),
    variable('role', 'as what, in words'),
    variable('code', 'to type in where the link cannot be opened'),
    variable('days', 'for how many days the invitation is valid'),
    LINK,
  ],
  alert: [variable('rule', 'the name of the alert'), variable('artifact', 'the name of the page'), variable('what', 'what was seen'), LINK],
  notice: [variable('title', 'what it is about'), variable('body', 'more about it'), LINK],
};

/** Where who invites has no name. */
const SOMEBODY = { en: 'Somebody', es: 'Alguien' } as const;

/** What a template is given. Words of people are bounded as in the built-in mails, and do not become links. */
const VALUES: { readonly [K in SystemMailKind]: (facts: FactsOf<K>, locale: Locale) => Readonly<Record<string, string>> } = {
  invite: ({ by, workspace, role, code, url, days }, locale) => ({
    by: by === null ? SOMEBODY[locale] : named(by),
    workspace: named(workspace),
    role: roleWords(locale, role),
    code,
    days: String(days),
    url,
  }),
  alert: ({ rule, artifact, what, url }) => ({ rule: named(rule), artifact: named(artifact), what: saidByAlert(what), url }),
  notice: ({ title, body, url }) => ({ title: named(title), body: quoted(body), url }),
};

/** The mail of a kind as the workspace wants it, or the built-in one. */
export async function composeFor<K extends SystemMailKind>(
  tx: Queries,
  workspaceId: WorkspaceId | null,
  kind: K,
  facts: FactsOf<K>,
  addressed: Parameters<typeof composeMail>[2],
): Promise<Mail> {
  const usual = composeMail(kind, facts, addressed);
  const own = workspaceId === null ? null : await readWorkspaceMail(tx, workspaceId, kind, addressed.locale);
  if (own === null) return usual;
  try {
    const template: MailTemplate = { subject: own.subject, html: own.html, text: own.text_body, variables: [] };
    const { subject, html, text } = renderTemplate(template, VALUES[kind](facts, addressed.locale));
    return { ...usual, subject: subject === '' ? usual.subject : subject, html, text };
  } catch (error) {
    // A template that was right when it was stored can still become too large with these values. Its mail must not be lost.
    if (error instanceof Failure) return usual;
    throw error;
  }
}

/** Marks that stand for values while a built-in mail is composed; letters and digits only, so that nothing changes them. */
const MARKS: { readonly [K in SystemMailKind]: FactsOf<K> } = {
  invite: { by: 'qqbyqq', workspace: 'qqworkspaceqq', role: 'member', code: 'qqcodeqq', url: 'qqurlqq', days: 987_654 },
  alert: { rule: 'qqruleqq', artifact: 'qqartifactqq', what: 'qqwhatqq', url: 'qqurlqq' },
  notice: { title: 'qqtitleqq', body: 'qqbodyqq', url: 'qqurlqq' },
};

/** The built-in mail as a template, for somebody to begin with. */
export function builtIn<K extends SystemMailKind>(kind: K, locale: Locale): Omit<MailTemplate, 'variables'> {
  const { subject, html, text } = composeMail(kind, MARKS[kind], { recipient: '', locale });
  const asTemplate = (written: string) =>
    written
      .replace(/qq([a-z]+)qq/g, '{{data.$1}}')
      .replaceAll('987654', '{{data.days}}')
      .replaceAll(`${roleWords(locale, 'member')}.`, '{{data.role}}.');
  return { subject: asTemplate(subject), html: asTemplate(html ?? ''), text: asTemplate(text) };
}
