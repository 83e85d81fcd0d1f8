/** What was done in the installation and in all its workspaces. */
import { useState } from 'preact/hooks';
import type { InstanceAuditEntry } from '../../api/client.ts';
import { type AuditFilter, auditCsv, saveFile, useInstanceAudit } from '../../state/instance-whole.ts';
import { DateField, SelectField, Switch, TextField } from '../../ui/fields.tsx';
import { instanceWords } from '../../words/instance-words.ts';
import { ListOf } from '../list-of.tsx';
import { RecordRow } from '../record-row.tsx';
import { ActionButton, PersonLink, WorkspaceLink } from './common.tsx';

/** Beginnings of actions, as the record names them. */
const KINDS = [
  ...(['', 'person.', 'workspace.', 'artifact.', 'version.', 'member.', 'invite.', 'grant.'] as const),
  ...(['agent_token.', 'connection.', 'mail.', 'flags.', 'banner.'] as const),
];
type Kind = (typeof KINDS)[number];

const EVERYTHING: AuditFilter & { readonly action: Kind } = { action: '', actor: '', target: '', from: '', to: '', onlyInstance: false };

export function AuditPart() {
  const [filter, setFilter] = useState(EVERYTHING);
  const pages = useInstanceAudit(filter);
  const { audit } = instanceWords.value;
  const set = (change: Partial<typeof EVERYTHING>) => setFilter((before) => ({ ...before, ...change }));
  return (
    <>
      <div class="section-head">
        <p class="soft small grow">{audit.text}</p>
        <ActionButton icon="down" run={async () => saveFile(await auditCsv(filter), 'easel-record.csv')}>
          {audit.csv}
        </ActionButton>
      </div>
      <div class="instance-filters">
        <SelectField
          label={audit.kind}
          value={filter.action}
          options={KINDS.map((value) => ({ value, label: audit.kinds[value] }))}
          onChoose={(action) => set({ action })}
        />
        <TextField
          label={audit.who}
          value={filter.actor}
          onText={(actor) => set({ actor: actor.trim() })}
          spellcheck={false}
          maxLength={100}
        />
        <TextField
          label={audit.target}
          value={filter.target}
          onText={(target) => set({ target: target.trim() })}
          spellcheck={false}
          maxLength={100}
        />
        <DateField label={audit.from} value={filter.from} onDate={(from) => set({ from })} />
        <DateField label={audit.to} value={filter.to} min={filter.from} onDate={(to) => set({ to })} />
        <Switch label={audit.onlyInstance} isOn={filter.onlyInstance} onTurn={(onlyInstance) => set({ onlyInstance })} />
      </div>
      <ListOf pages={pages} icon="list" empty={audit.empty}>
        {(entry) => <EntryRow key={entry.id} entry={entry} />}
      </ListOf>
    </>
  );
}

function EntryRow({ entry }: { readonly entry: InstanceAuditEntry }) {
  const { actor, workspace_id } = entry;
  return (
    <RecordRow entry={entry} nameless={instanceWords.value.people.nameless}>
      {actor.kind === 'user' && actor.id !== null && actor.name === null && <PersonLink id={actor.id} />}
      {workspace_id !== null && <WorkspaceLink id={workspace_id} />}
    </RecordRow>
  );
}
