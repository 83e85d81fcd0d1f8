/** What the parts of the instance have in common: looking for something, lists, names of people, actions. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { InstancePerson } from '../../api/client.ts';
import { type Suspended, TIERS, type Tier, useInstancePerson } from '../../state/instance.ts';
import { tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { SearchField, SelectField } from '../../ui/fields.tsx';
import type { IconName } from '../../ui/icon.tsx';
import { instanceWords } from '../../words/instance-words.ts';

/** What a part finds in its address. */
export interface PartProps {
  /** What is looked for at first. */
  readonly q: string;
  /** Whose pages are shown; undefined for everybody's. */
  readonly owner: string | undefined;
}

/** A pause in typing after which it is looked for. */
const SEARCH_AFTER_MS = 250;

interface SearchProps {
  readonly label: string;
  readonly initial: string;
  readonly onSearch: (text: string) => void;
}

export function SearchBox({ label, initial, onSearch }: SearchProps) {
  const [typed, setTyped] = useState(initial);
  useEffect(() => {
    const timer = setTimeout(() => onSearch(typed.trim()), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return <SearchField label={label} value={typed} onText={setTyped} />;
}

export function TierFilter({ value, onChoose }: { readonly value: 'all' | Tier; readonly onChoose: (tier: 'all' | Tier) => void }) {
  const { tierFilter, anyTier, tier } = instanceWords.value;
  const options = [{ value: 'all' as const, label: anyTier }, ...TIERS.map((one) => ({ value: one, label: tier[one] }))];
  return <SelectField label={tierFilter} hideLabel value={value} options={options} onChoose={onChoose} />;
}

const SUSPENDED = ['all', 'yes', 'no'] as const;

export function SuspendedFilter({ value, onChoose }: { readonly value: Suspended; readonly onChoose: (suspended: Suspended) => void }) {
  const { suspensionFilter, suspensionFilters } = instanceWords.value;
  const options = SUSPENDED.map((one) => ({ value: one, label: suspensionFilters[one] }));
  return <SelectField label={suspensionFilter} hideLabel value={value} options={options} onChoose={onChoose} />;
}

export function nameOf({ name, email, username }: Pick<InstancePerson, 'name' | 'email' | 'username'>): string {
  return name || email || username || instanceWords.value.people.nameless;
}

interface NamedProps {
  readonly id: string | null;
  /** What is said with the name. */
  readonly children: (name: string) => ComponentChildren;
}

/** Looks up who somebody is whom the server names by an id alone. */
export function Named({ id, children }: NamedProps) {
  if (id !== null) return <Known id={id}>{children}</Known>;
  return <>{children(instanceWords.value.gone)}</>;
}

function Known({ id, children }: NamedProps & { readonly id: string }) {
  const { data, problem } = useInstancePerson(id);
  if (data !== undefined) return <>{children(nameOf(data.shown))}</>;
  return <>{children(problem === undefined ? '…' : instanceWords.value.gone)}</>;
}

export function PersonLink({ id }: { readonly id: string }) {
  return <a href={`/instance/people?q=${id}`}>{instanceWords.value.showPerson}</a>;
}

export function PageLink({ id }: { readonly id: string }) {
  return <a href={`/instance/pages?q=${id}`}>{instanceWords.value.showPage}</a>;
}

export function WorkspaceLink({ id }: { readonly id: string }) {
  return <a href={`/instance/workspaces?q=${id}`}>{instanceWords.value.showWorkspace}</a>;
}

/** For whoever goes on with it by command or interface. */
export function IdFact({ id }: { readonly id: string }) {
  return (
    <div>
      <dt>{instanceWords.value.id}</dt>
      <dd class="instance-id">
        <code>{id}</code>
        <CopyButton text={id} />
      </dd>
    </div>
  );
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface ActionProps {
  readonly run: () => Promise<void>;
  readonly icon?: IconName;
  readonly look?: 'main' | 'second' | 'quiet' | 'danger';
  readonly label?: string;
  readonly children: ComponentChildren;
}

/** Shows that it is under way, and what has gone wrong. */
export function ActionButton({ run, icon, look = 'second', label, children }: ActionProps) {
  const [isBusy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    try {
      await run();
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  };
  return (
    <Button small look={look} isBusy={isBusy} aria-label={label} {...(icon && { icon })} onClick={() => void act()}>
      {children}
    </Button>
  );
}
