/** Mail on behalf of a page: what was sent and what became of it, and templates. */
import type { Artifact, Email, Template } from '../../api/client.ts';
import { useEmails, useTemplates } from '../../state/mail.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Tag, Time } from '../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { bytesText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { TemplateEditor } from './template-editor.tsx';

interface MailPartProps {
  readonly artifact: Artifact;
  /** `new`, or the template that is shown; undefined for the lists. */
  readonly templateId: string | undefined;
}

export function MailPart({ artifact, templateId }: MailPartProps) {
  if (templateId !== undefined) return <TemplateEditor artifact={artifact} templateId={templateId} />;
  return (
    <div class="panels">
      <Templates artifact={artifact} />
      <Log artifact={artifact} />
    </div>
  );
}

function Templates({ artifact }: { readonly artifact: Artifact }) {
  const pages = useTemplates(artifact.id);
  const { mail } = words.value;
  return (
    <section class="panel">
      <header class="row">
        <div class="grow">
          <h2>{mail.templates}</h2>
          <p class="small soft">{mail.templatesText}</p>
        </div>
        <LinkButton href={`/p/${artifact.id}/mail/new`} icon="plus">
          {mail.newTemplate}
        </LinkButton>
      </header>
      {pages.items === undefined && pages.problem === undefined && <Skeleton shape="line" count={2} />}
      {pages.items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {pages.items?.length === 0 && <p class="soft">{mail.noTemplates}</p>}
      {pages.items !== undefined && pages.items.length > 0 && (
        <ul class="rows">
          {pages.items.map((template) => (
            <TemplateRow key={template.id} artifact={artifact} template={template} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

function TemplateRow({ artifact, template }: { readonly artifact: Artifact; readonly template: Template }) {
  const { mail } = words.value;
  return (
    <li class="row-item">
      <Icon name="file" />
      <div class="grow">
        <p>
          <a href={`/p/${artifact.id}/mail/${template.id}`}>{template.name}</a>
        </p>
        <p class="row-facts">
          <span>{template.subject}</span>
          <Time at={new Date(template.updated_at).toISOString()} />
        </p>
      </div>
      <Tag>{template.artifact_id === null ? mail.ofAccount : mail.ofPage}</Tag>
    </li>
  );
}

function Log({ artifact }: { readonly artifact: Artifact }) {
  const pages = useEmails(artifact.id);
  const { mail } = words.value;
  return (
    <section class="panel">
      <h2>{mail.log}</h2>
      <p class="small soft">{mail.logText}</p>
      {pages.items === undefined && pages.problem === undefined && <Skeleton shape="line" count={4} />}
      {pages.items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {pages.items?.length === 0 && (
        <Empty
          icon="mail"
          {...mail.empty}
          command={`easel mail send -a ${artifact.slug} --to you@example.com --subject Hello --text "It works."`}
        />
      )}
      {pages.items !== undefined && pages.items.length > 0 && (
        <ul class="rows">
          {pages.items.map((email) => (
            <LogRow key={email.id} email={email} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

const TONES = { queued: 'plain', sent: 'good', failed: 'warn', suppressed: 'warn', partly_sent: 'warn' } as const;

/** Before what is said of a file that does not go along any more: for programs. The sentence behind it names the file. */
const FIELD_NAME = /^attachments\.\d+\.file_id: /;

function LogRow({ email }: { readonly email: Email }) {
  const { mail } = words.value;
  const [first] = email.recipients;
  const trouble = email.recipients.find(({ status, error }) => status === 'failed' && error !== null)?.error?.replace(FIELD_NAME, '');
  const isSuppressed = email.recipients.some(({ status }) => status === 'suppressed');
  return (
    <li class="row-item is-top">
      <Icon name={email.purpose === 'owner' ? 'comment' : 'mail'} />
      <div class="grow">
        <p>{email.subject}</p>
        <p class="row-facts">
          <span>{mail.to(first?.to ?? mail.owner, Math.max(0, email.recipients.length - 1))}</span>
          <Time at={email.created_at} />
          {email.purpose === 'owner' && <span>{mail.fromVisitor}</span>}
        </p>
        {email.attachments.length > 0 && <SentFiles files={email.attachments} />}
        {trouble !== undefined && <p class="small soft">{trouble}</p>}
        {isSuppressed && <p class="small soft">{mail.suppressed}</p>}
      </div>
      <Tag tone={TONES[email.status]}>{mail.status[email.status]}</Tag>
    </li>
  );
}

function SentFiles({ files }: { readonly files: Email['attachments'] }) {
  return (
    <ul class="mail-files" aria-label={words.value.mail.files}>
      {files.map(({ file_id, filename, size_bytes }) => (
        <li key={file_id}>
          <Icon name="file" size={14} />
          <span>
            {filename} <span class="soft">({bytesText(size_bytes)})</span>
          </span>
        </li>
      ))}
    </ul>
  );
}
