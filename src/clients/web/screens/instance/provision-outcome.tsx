/** What has become of every step and of every administrator, each with what is left to do. */
import type { ProvisionReport } from '../../api/client.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Tag } from '../../ui/small.tsx';
import { instanceWords } from '../../words/instance-words.ts';
import { words } from '../../words/words.ts';

type Step = ProvisionReport['steps'][number];
type Admin = ProvisionReport['admins'][number];

const STEP_TONES = {
  created: 'good',
  updated: 'good',
  unchanged: 'plain',
  skipped: 'plain',
  pending: 'info',
  failed: 'warn',
} as const satisfies Record<Step['status'], string>;

const ADMIN_TONES = {
  invited: 'good',
  already_invited: 'plain',
  active: 'plain',
  added: 'good',
  failed: 'warn',
} as const satisfies Record<Admin['status'], string>;

interface OutcomeProps {
  readonly report: ProvisionReport;
  readonly onAgain: () => void;
  readonly onClose: () => void;
}

export function ProvisionOutcome({ report, onAgain, onClose }: OutcomeProps) {
  const { provision: said } = instanceWords.value;
  const { ok, created, workspace, steps, admins } = report;
  return (
    <>
      <div class={`notice ${ok ? 'good' : 'warn'}`} role="status">
        <p>
          <strong>{created ? said.created(workspace.name) : said.found(workspace.name)}</strong> ({workspace.slug})
        </p>
        <p>{ok ? said.allDone : said.someFailed}</p>
      </div>
      <h3>{said.steps}</h3>
      <ul class="rows instance-outcome" aria-label={said.steps}>
        {steps.map((step) => (
          <StepRow key={step.step} step={step} />
        ))}
      </ul>
      <h3>{said.people}</h3>
      <ul class="rows instance-outcome" aria-label={said.people}>
        {admins.map((admin) => (
          <AdminRow key={admin.email} admin={admin} />
        ))}
      </ul>
      <div class="dialog-foot">
        <Button onClick={onAgain}>{said.again}</Button>
        <LinkButton href={`/instance/workspaces?q=${workspace.id}`} onClick={onClose}>
          {said.openWorkspace}
        </LinkButton>
        <Button look="main" onClick={onClose}>
          {words.value.app.done}
        </Button>
      </div>
    </>
  );
}

function stepWords(step: string): string {
  const { provision: said } = instanceWords.value;
  const connector = /^connector:(.*)$/s.exec(step)?.[1];
  if (connector !== undefined) return said.connector(connector);
  const known: Readonly<Record<string, string>> = said.step;
  return known[step] ?? step;
}

function StepRow({ step: { step, status, error, next_step } }: { readonly step: Step }) {
  const { provision: said } = instanceWords.value;
  return (
    <li class="row-item">
      <div class="grow">
        <p>{stepWords(step)}</p>
        {error !== undefined && <p class="row-note is-bad">{error}</p>}
        {next_step !== undefined && <p class="row-note">{next_step}</p>}
      </div>
      <Tag tone={STEP_TONES[status]}>{said.stepStatus[status]}</Tag>
    </li>
  );
}

function AdminRow({ admin: { email, role, status, email_sent, invite_url, error } }: { readonly admin: Admin }) {
  const { provision: said } = instanceWords.value;
  return (
    <li class="row-item">
      <div class="grow">
        <p>
          {email} <span class="soft small">{words.value.workspace.role[role]}</span>
        </p>
        {error !== undefined && <p class="row-note is-bad">{error}</p>}
        {status === 'already_invited' && !email_sent && <p class="row-note">{said.sendAgain}</p>}
        {invite_url !== undefined && (
          <>
            <p class="row-note">{said.noMail}</p>
            <Code text={invite_url} />
          </>
        )}
      </div>
      <Tag tone={ADMIN_TONES[status]}>{said.adminStatus[status]}</Tag>
    </li>
  );
}
