/** What was done in a workspace, newest first. */
import { useState } from 'preact/hooks';
import { useAudit } from '../../state/loads.ts';
import { SelectField } from '../../ui/fields.tsx';
import { words } from '../../words/words.ts';
import { ListOf } from '../list-of.tsx';
import { RecordRow } from '../record-row.tsx';

/** Beginnings of actions, as the record names them. */
const KINDS = ['', 'artifact.', 'version.', 'member.', 'invite.', 'agent_token.', 'folder.', 'workspace.', 'publish_policy.'] as const;

export function AuditPart({ slug }: { readonly slug: string }) {
  const [action, setAction] = useState<(typeof KINDS)[number]>('');
  const pages = useAudit(slug, action);
  const { audit } = words.value;
  return (
    <>
      <div class="section-head">
        <div class="grow">
          <h2>{audit.title}</h2>
          <p class="soft small">{audit.text}</p>
        </div>
        <SelectField
          label={audit.action}
          hideLabel
          value={action}
          options={KINDS.map((value) => ({ value, label: value === '' ? audit.all : value.slice(0, -1).replace('_', ' ') }))}
          onChoose={setAction}
        />
      </div>
      <ListOf pages={pages} icon="list" empty={audit.empty}>
        {(entry) => <RecordRow key={entry.id} entry={entry} nameless={entry.actor.id ?? audit.system} />}
      </ListOf>
    </>
  );
}
