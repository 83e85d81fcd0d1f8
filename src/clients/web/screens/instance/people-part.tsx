/** Accounts of the installation: found by address, name or id. */
import { useState } from 'preact/hooks';
import type { InstancePerson } from '../../api/client.ts';
import { type PeopleFilter, useInstancePeople } from '../../state/instance.ts';
import { SelectField } from '../../ui/fields.tsx';
import { Avatar, Tag } from '../../ui/small.tsx';
import { ago, bytesText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { ListOf } from '../list-of.tsx';
import { nameOf, type PartProps, SearchBox, SuspendedFilter, TierFilter } from './common.tsx';
import { PersonDialog } from './person-dialog.tsx';

const ROLES = ['all', 'admin', 'staff'] as const satisfies readonly PeopleFilter['role'][];

export function PeoplePart({ q: initial }: PartProps) {
  const [filter, setFilter] = useState<PeopleFilter>({ q: initial, role: 'all', tier: 'all', suspended: 'all' });
  const [openId, setOpenId] = useState<string>();
  const pages = useInstancePeople(filter);
  const said = instanceWords.value;
  const { people } = said;
  const set = (change: Partial<PeopleFilter>) => setFilter((before) => ({ ...before, ...change }));
  return (
    <>
      <div class="instance-tools">
        <SearchBox label={people.search} initial={initial} onSearch={(q) => set({ q })} />
        <SelectField
          label={people.role}
          hideLabel
          value={filter.role}
          options={ROLES.map((value) => ({ value, label: people.roles[value] }))}
          onChoose={(role) => set({ role })}
        />
        <TierFilter value={filter.tier} onChoose={(tier) => set({ tier })} />
        <SuspendedFilter value={filter.suspended} onChoose={(suspended) => set({ suspended })} />
      </div>
      <ListOf pages={pages} icon="people" empty={said.noneFound}>
        {(person) => <PersonRow key={person.id} person={person} onOpen={() => setOpenId(person.id)} />}
      </ListOf>
      {openId !== undefined && <PersonDialog key={openId} userId={openId} onClose={() => setOpenId(undefined)} />}
    </>
  );
}

function PersonRow({ person, onOpen }: { readonly person: InstancePerson; readonly onOpen: () => void }) {
  const said = instanceWords.value;
  const { people, tier } = said;
  const name = nameOf(person);
  const { email, suspended, last_seen_at, bytes } = person;
  return (
    <li class="row-item">
      <Avatar name={name} />
      <div class="grow">
        <p class="row-title">
          <button type="button" class="row-open" aria-label={said.open(name)} onClick={onOpen}>
            {name}
          </button>
          {suspended !== null && <Tag tone="warn">{said.suspended}</Tag>}
          {person.is_admin && <Tag tone="accent">{people.admin}</Tag>}
          {person.is_staff && <Tag tone="info">{people.staff}</Tag>}
        </p>
        <p class="row-facts">
          {email !== null && email !== name && <span>{email}</span>}
          <span>{last_seen_at === null ? people.neverSeen : people.seen(ago(last_seen_at))}</span>
          <span>{bytesText(bytes)}</span>
        </p>
      </div>
      <Tag>{tier[person.tier]}</Tag>
    </li>
  );
}
