/** Says who gains and who loses access by a change, before it is made. */
import { asked, type Simulated } from '../state/planned.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { listText } from '../words/format.ts';
import { words } from '../words/words.ts';

type Concerned = Simulated['opens'][number];

export function PlannedDialog() {
  const question = asked.value;
  if (question === undefined) return null;
  const { title, action, simulated, isStale, answer } = question;
  const { opens, closes, opens_total, closes_total } = simulated;
  const { planned, app } = words.value;
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      {isStale && (
        <p class="notice warn" role="alert">
          {planned.meanwhile}
        </p>
      )}
      {opens_total + closes_total === 0 && <p>{planned.nobody}</p>}
      <Side title={planned.loses} entries={closes} total={closes_total} verb={planned.cannotAnyMore} />
      <Side title={planned.gains} entries={opens} total={opens_total} verb={planned.canNow} />
      <div class="dialog-foot">
        <Button onClick={() => answer(false)}>{app.cancel}</Button>
        <Button look={closes_total > 0 ? 'danger' : 'main'} onClick={() => answer(true)}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}

interface SideProps {
  readonly title: string;
  readonly entries: readonly Concerned[];
  readonly total: number;
  readonly verb: (what: string) => string;
}

function Side({ title, entries, total, verb }: SideProps) {
  const { planned, share } = words.value;
  if (total === 0) return null;
  return (
    <section class="planned-side" aria-label={title}>
      <h3>{title}</h3>
      <ul class="planned">
        {entries.map(({ who, can }, at) => (
          <li key={at}>
            <strong>{nameOf(who)}</strong> <span class="soft">{verb(listText(can.map((ability) => share.ability[ability])))}</span>
          </li>
        ))}
        {total > entries.length && <li class="soft">{planned.more(total - entries.length)}</li>}
      </ul>
    </section>
  );
}

function nameOf(who: Concerned['who']): string {
  const { planned, share } = words.value;
  switch (who.type) {
    case 'everybody':
      return planned.everybody;
    case 'agents':
      return planned.agents;
    case 'person':
      return who.name !== null && who.email !== null ? `${who.name} (${who.email})` : (who.name ?? who.email ?? share.somebody);
    default:
      return who satisfies never;
  }
}
