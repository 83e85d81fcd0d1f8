/** One account: what it holds, what it may, its sessions, its suspension, and the data of the person. */
import { useState } from 'preact/hooks';
import type { InstancePerson } from '../../api/client.ts';
import { changePerson, type Read, signOutEverywhere, TIERS, type Tier, useInstancePerson } from '../../state/instance.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, Switch } from '../../ui/fields.tsx';
import { Loaded } from '../../ui/states.tsx';
import { ago, bytesText, dateText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { ActionButton, Fact, IdFact, nameOf } from './common.tsx';
import { PersonDataSection } from './person-data.tsx';
import { SuspensionSection } from './suspension-section.tsx';
import { TypedConfirm } from './typed-confirm.tsx';

export function PersonDialog({ userId, onClose }: { readonly userId: string; readonly onClose: () => void }) {
  const person = useInstancePerson(userId);
  const { people } = instanceWords.value;
  return (
    <Dialog title={person.data === undefined ? people.nameless : nameOf(person.data.shown)} wide onClose={onClose}>
      <Loaded of={person} shape="block">
        {(read) => (
          <div class="instance-sections">
            <Facts person={read.shown} />
            <Rights read={read} />
            <Sessions userId={userId} />
            <SuspensionSection
              of="person"
              name={nameOf(read.shown)}
              expected={read.shown.email ?? read.shown.id}
              suspended={read.shown.suspended}
              change={(suspended) => changePerson(read, { suspended })}
            >
              {read.shown.suspended !== null && read.shown.public_pages > 0 && (
                <p class="small">
                  {people.publicStay(read.shown.public_pages)} <a href={`/instance/pages?owner=${userId}`}>{people.showPages}</a>
                </p>
              )}
            </SuspensionSection>
            <PersonDataSection person={read.shown} />
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}

function Facts({ person }: { readonly person: InstancePerson }) {
  const { people } = instanceWords.value;
  const { id, username, email, linked, created_at, last_seen_at, workspaces, artifacts, public_pages, bytes, bytes_max } = person;
  return (
    <section class="panel">
      <dl class="instance-facts">
        {email !== null && <Fact name={people.email}>{email}</Fact>}
        {username !== null && <Fact name={people.username}>{username}</Fact>}
        <Fact name={people.joined}>{dateText(created_at)}</Fact>
        <Fact name={people.lastSeen}>{last_seen_at === null ? people.neverSeen : ago(last_seen_at)}</Fact>
        {linked.length > 0 && (
          <Fact name={people.linked}>
            {linked.map((other, at) => (
              <a key={other} href={`/instance/people?q=${other}`}>
                {at + 1}
              </a>
            ))}
          </Fact>
        )}
        <Fact name={people.workspaces}>{workspaces}</Fact>
        <Fact name={people.artifacts}>
          <a href={`/instance/pages?owner=${id}`}>{artifacts}</a> {public_pages > 0 && people.publicOnes(public_pages)}
        </Fact>
        <Fact name={people.storage}>{people.of(bytesText(bytes), bytesText(bytes_max))}</Fact>
        <IdFact id={id} />
      </dl>
    </section>
  );
}

function Rights({ read }: { readonly read: Read<InstancePerson> }) {
  const [asks, setAsks] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const said = instanceWords.value;
  const { people, tier } = said;
  const { shown } = read;
  const name = nameOf(shown);
  const save = async (change: Parameters<typeof changePerson>[1], done: string) => {
    setBusy(true);
    try {
      await changePerson(read, change);
      tell(done);
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  };
  return (
    <section class="panel">
      <h3>{people.rightsTitle}</h3>
      <SelectField<Tier>
        label={people.plan}
        value={shown.tier}
        options={TIERS.map((value) => ({ value, label: tier[value] }))}
        disabled={isBusy}
        onChoose={(chosen) => void save({ tier: chosen }, people.planSaved)}
      />
      <Switch
        label={people.isStaff}
        hint={people.isStaffHint}
        isOn={shown.is_staff}
        disabled={isBusy}
        onTurn={(is_staff) => void save({ is_staff }, people.saved)}
      />
      {/* Drawn anew where the question is put aside, because the browser has turned it already. */}
      <Switch
        key={String(asks)}
        label={people.isAdmin}
        hint={people.isAdminHint}
        isOn={shown.is_admin}
        disabled={isBusy}
        onTurn={() => setAsks(true)}
      />
      {asks && (
        <TypedConfirm
          title={shown.is_admin ? people.unadminTitle(name) : people.adminTitle(name)}
          text={shown.is_admin ? people.unadminText : people.adminText}
          expected={shown.email ?? shown.id}
          action={shown.is_admin ? people.unadminAction : people.adminAction}
          run={async () => {
            await changePerson(read, { is_admin: !shown.is_admin });
            tell(people.saved);
          }}
          onClose={() => setAsks(false)}
        />
      )}
    </section>
  );
}

function Sessions({ userId }: { readonly userId: string }) {
  const { people } = instanceWords.value;
  return (
    <section class="panel">
      <h3>{people.sessions}</h3>
      <p class="soft small">{people.sessionsText}</p>
      <div class="row">
        <ActionButton icon="out" run={async () => tell(people.signedOut(await signOutEverywhere(userId)))}>
          {people.signOut}
        </ActionButton>
      </div>
    </section>
  );
}
