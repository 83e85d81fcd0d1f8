/** What the installation holds of a person: to take along, and to remove. */
import { useState } from 'preact/hooks';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { InstancePerson } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { accountWith, readAddress } from '../../state/instance.ts';
import { deletePerson, exportPerson, personWorkChangesMs, usePersonExports } from '../../state/instance-work.ts';
import { useFollowing } from '../../state/jobs.ts';
import { useLoaded } from '../../state/store.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { dateText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { ActionButton, nameOf } from './common.tsx';
import { ExportRow } from './export-row.tsx';
import { TypedConfirm } from './typed-confirm.tsx';

/** Here; all of them are in a part of their own. */
const EXPORTS_SHOWN = 3;

export function PersonDataSection({ person }: { readonly person: InstancePerson }) {
  const [isDeleting, setDeleting] = useState(false);
  const exports = usePersonExports(person.id);
  const { people } = instanceWords.value;
  const items = exports.items ?? [];
  useFollowing(personWorkChangesMs(items, []), { isLoading: exports.isLoading, data: exports.items }, exports.reload);
  return (
    <section class="panel is-whole">
      <h3>{people.data}</h3>
      <p class="soft small">{people.dataText}</p>
      {items.length > 0 && (
        <ul class="rows">
          {items.slice(0, EXPORTS_SHOWN).map((one) => (
            <ExportRow key={one.id} one={one} isNamed={false} />
          ))}
        </ul>
      )}
      <div class="row">
        <ActionButton
          icon="zip"
          run={async () => {
            await exportPerson(person.id);
            tell(people.exporting);
          }}
        >
          {people.export}
        </ActionButton>
        <Button small look="danger" icon="trash" onClick={() => setDeleting(true)}>
          {people.delete}
        </Button>
      </div>
      {isDeleting && <DeleteDialog person={person} onClose={() => setDeleting(false)} />}
    </section>
  );
}

function DeleteDialog({ person, onClose }: { readonly person: InstancePerson; readonly onClose: () => void }) {
  const [days, setDays] = useState(String(LIMITS.deletionGraceDaysDefault));
  const [heir, setHeir] = useState('');
  const address = useLoaded(`instance:address:${person.id}`, () => readAddress(person));
  const { people } = instanceWords.value;
  const isDay = /^\d{1,2}$/.test(days.trim()) && Number(days) <= LIMITS.deletionGraceDaysMax;
  if (address.data === undefined && address.problem === undefined) return null;
  const confirm = address.data ?? person.id;
  const run = async () => {
    const heirId = heir.trim() === '' ? null : await accountWith(heir);
    if (heir.trim() !== '' && heirId === null) throw new Problem({ status: 404, code: 'USER_NOT_FOUND', message: people.noHeir });
    const dueAt = await deletePerson(person.id, { confirm, grace_days: Number(days), ...(heirId !== null && { heir_id: heirId }) });
    tell(people.deleting(dateText(dueAt)));
  };
  return (
    <TypedConfirm
      title={people.deleteTitle(nameOf(person))}
      text={people.deleteText}
      expected={confirm}
      action={people.deleteTitle(nameOf(person))}
      isReady={isDay}
      run={run}
      onClose={onClose}
    >
      <TextField
        label={people.grace}
        hint={people.graceHint}
        value={days}
        onText={setDays}
        required
        error={isDay ? undefined : people.wrongGrace(LIMITS.deletionGraceDaysMax)}
        autoFocus
      />
      <TextField label={people.heir} hint={people.heirHint} value={heir} onText={setHeir} spellcheck={false} />
    </TypedConfirm>
  );
}
