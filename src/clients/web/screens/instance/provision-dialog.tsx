/** A form that makes a workspace ready for a customer, and what has become of every step. */
import { useState } from 'preact/hooks';
import type { ProvisionReport } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { provision } from '../../state/instance.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { AreaField, SelectField, Switch, TextField } from '../../ui/fields.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { instanceWords } from '../../words/instance-words.ts';
import { words } from '../../words/words.ts';
import { type Draft, EMPTY_DRAFT, EXISTS, isConnectors, LOCALES, requestOf, SWITCHES, type Switched } from './provision-draft.ts';
import { ProvisionOutcome } from './provision-outcome.tsx';

export function ProvisionDialog({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState<Draft>(EMPTY_DRAFT);
  const [report, setReport] = useState<ProvisionReport>();
  const { provision: said } = instanceWords.value;
  return (
    <Dialog title={said.title} wide isChanged={report === undefined && draft !== EMPTY_DRAFT} onClose={onClose}>
      {report === undefined ? (
        <ProvisionForm draft={draft} onDraft={setDraft} onReport={setReport} onClose={onClose} />
      ) : (
        <ProvisionOutcome report={report} onAgain={() => setReport(undefined)} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface FormProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly onReport: (report: ProvisionReport) => void;
  readonly onClose: () => void;
}

function ProvisionForm({ draft, onDraft, onReport, onClose }: FormProps) {
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { provision: said } = instanceWords.value;
  const isReady = draft.name.trim() !== '' && draft.slug.trim() !== '' && draft.admins.trim() !== '' && isConnectors(draft.connectors);
  const run = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      onReport(await provision(requestOf(draft)));
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const fields = { draft, set: (change: Partial<Draft>) => onDraft({ ...draft, ...change }) };
  return (
    <form onSubmit={run}>
      <p class="soft">{said.text}</p>
      <WhoFields {...fields} />
      <details class="instance-more">
        <summary>{said.branding}</summary>
        <BrandingFields {...fields} />
      </details>
      <details class="instance-more">
        <summary>{said.policy}</summary>
        <PolicyFields {...fields} />
      </details>
      <details class="instance-more">
        <summary>{said.connectors}</summary>
        <AreaField
          label={said.connectors}
          hint={said.connectorsHint}
          value={draft.connectors}
          onText={(connectors) => fields.set({ connectors })}
          rows={6}
          spellcheck={false}
          error={isConnectors(draft.connectors) ? undefined : said.notJson}
        />
      </details>
      {problem && <ProblemNote problem={problem} />}
      <div class="dialog-foot">
        <Button onClick={onClose}>{words.value.app.cancel}</Button>
        <Button type="submit" look="main" isBusy={isBusy} disabled={!isReady}>
          {said.run}
        </Button>
      </div>
    </form>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
}

function WhoFields({ draft, set }: FieldsProps) {
  const { provision: said } = instanceWords.value;
  return (
    <>
      <div class="field-pair is-even">
        <TextField label={said.name} value={draft.name} onText={(name) => set({ name })} required maxLength={100} autoFocus />
        <TextField
          label={said.slug}
          hint={said.slugHint}
          value={draft.slug}
          onText={(slug) => set({ slug })}
          required
          maxLength={63}
          spellcheck={false}
        />
      </div>
      <AreaField
        label={said.admins}
        hint={said.adminsHint}
        value={draft.admins}
        onText={(admins) => set({ admins })}
        required
        spellcheck={false}
      />
      <div class="field-pair is-even">
        <TextField label={said.owner} hint={said.ownerHint} value={draft.owner} onText={(owner) => set({ owner })} spellcheck={false} />
        <SelectField
          label={said.locale}
          value={draft.locale}
          options={LOCALES.map((value) => ({ value, label: said.locales[value] }))}
          onChoose={(locale) => set({ locale })}
        />
      </div>
      <TextField label={said.description} value={draft.description} onText={(description) => set({ description })} />
      <AreaField label={said.folders} hint={said.foldersHint} value={draft.folders} onText={(folders) => set({ folders })} />
      <SelectField
        label={said.exists}
        value={draft.exists}
        options={EXISTS.map((value) => ({ value, label: said.existsOptions[value] }))}
        onChoose={(exists) => set({ exists })}
      />
      <Switch label={said.resend} isOn={draft.resend} onTurn={(resend) => set({ resend })} />
    </>
  );
}

function BrandingFields({ draft, set }: FieldsProps) {
  const { provision: said } = instanceWords.value;
  return (
    <>
      <div class="field-pair is-even">
        <TextField
          label={said.accent}
          hint={said.accentHint}
          value={draft.accent}
          onText={(accent) => set({ accent })}
          maxLength={7}
          spellcheck={false}
        />
        <TextField label={said.logo} value={draft.logo} onText={(logo) => set({ logo })} spellcheck={false} />
      </div>
      <SwitchedField label={said.hideFooter} value={draft.hideFooter} onChoose={(hideFooter) => set({ hideFooter })} />
    </>
  );
}

function PolicyFields({ draft, set }: FieldsProps) {
  const { provision: said } = instanceWords.value;
  return (
    <>
      <div class="field-pair is-even">
        <AreaField
          label={said.domains}
          hint={said.domainsHint}
          value={draft.domains}
          onText={(domains) => set({ domains })}
          spellcheck={false}
        />
        <AreaField
          label={said.emails}
          hint={said.domainsHint}
          value={draft.emails}
          onText={(emails) => set({ emails })}
          spellcheck={false}
        />
      </div>
      <div class="instance-filters">
        <SwitchedField
          label={said.externalSharing}
          value={draft.externalSharing}
          onChoose={(externalSharing) => set({ externalSharing })}
        />
        <SwitchedField label={said.guestComments} value={draft.guestComments} onChoose={(guestComments) => set({ guestComments })} />
        <SwitchedField label={said.knowledge} value={draft.knowledge} onChoose={(knowledge) => set({ knowledge })} />
      </div>
    </>
  );
}

interface SwitchedProps {
  readonly label: string;
  readonly value: Switched;
  readonly onChoose: (value: Switched) => void;
}

/** On, off, or not mentioned: then it stays as it is. */
function SwitchedField({ label, value, onChoose }: SwitchedProps) {
  const { provision: said } = instanceWords.value;
  return (
    <SelectField label={label} value={value} options={SWITCHES.map((one) => ({ value: one, label: said[one] }))} onChoose={onChoose} />
  );
}
