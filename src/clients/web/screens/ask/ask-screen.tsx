/** Questions to all pages that the person may open, or to those of one workspace. The one that is asked is in the address, so that it can be kept and shared. */
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { isPaletteOpen } from '../../shell/palette.tsx';
import { askAddress, type Question } from '../../state/asking.ts';
import { seatIn } from '../../state/place.ts';
import { me } from '../../state/session.ts';
import { useTitle } from '../../state/window.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Head } from '../../ui/small.tsx';
import { Empty } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { AnswerView } from './answer-view.tsx';

interface Turn {
  readonly no: number;
  readonly question: Question;
}

/** Questions that stay in view, each with its answer. */
const TURNS_MAX = 5;

export function AskScreen() {
  const { query, route } = useLocation();
  const text = (query.q ?? '').trim();
  const { turns, forget } = useTurns(text, query.workspace);
  const { ask } = words.value;
  useTitle(text === '' ? ask.title : `${text} · ${ask.title}`);
  const send = (wanted: Question) => {
    // The same once more is answered anew.
    forget(wanted);
    route(askAddress(wanted.text, wanted.workspace), isSame(wanted, { text, ...placeOf(query.workspace) }));
  };
  return (
    <>
      <Head title={ask.title} text={ask.text} />
      <div class="narrow ask-screen">
        <AskForm workspace={query.workspace} isFirst={text === ''} onAsk={send} />
        {turns.length === 0 && <Empty icon="comment" {...ask.begin} />}
        {turns.length > 0 && <p class="soft small">{ask.each}</p>}
        {turns.map((turn) => (
          <TurnView key={turn.no} turn={turn} isCurrent={text !== '' && turn === turns[0]} />
        ))}
      </div>
    </>
  );
}

function placeOf(workspace: string | undefined): Pick<Question, 'workspace'> {
  return workspace === undefined || workspace === '' ? {} : { workspace };
}

function isSame(one: Question, other: Question): boolean {
  return one.text === other.text && one.workspace === other.workspace;
}

/** Newest first. Where the address comes back to a question, its answer is still there and is not asked for again. */
function useTurns(text: string, workspace: string | undefined) {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const wanted: Question = { text, ...placeOf(workspace) };
  const first = turns[0];
  let shown = turns;
  if (text !== '' && (first === undefined || !isSame(first.question, wanted))) {
    const known = turns.find(({ question }) => isSame(question, wanted));
    const no = Math.max(0, ...turns.map((turn) => turn.no)) + 1;
    shown = [known ?? { no, question: wanted }, ...turns.filter((turn) => turn !== known)].slice(0, TURNS_MAX);
    setTurns(shown);
  }
  const forget = (question: Question) => setTurns(shown.filter((turn) => !isSame(turn.question, question)));
  return { turns: shown, forget };
}

interface AskFormProps {
  readonly workspace: string | undefined;
  readonly isFirst: boolean;
  readonly onAsk: (question: Question) => void;
}

function AskForm({ workspace, isFirst, onAsk }: AskFormProps) {
  const [typed, setTyped] = useState('');
  const asked = seatIn(workspace ?? '')?.slug ?? '';
  const [chosen, setChosen] = useState(asked);
  useEffect(() => setChosen(asked), [asked]);
  const { ask } = words.value;
  const workspaces = me.value?.workspaces ?? [];
  const text = typed.trim();
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (text === '') return;
    onAsk({ text, ...placeOf(chosen) });
    setTyped('');
  };
  return (
    <form onSubmit={send}>
      <div class="row ask-form">
        <div class="grow">
          <TextField
            label={ask.question}
            hideLabel
            value={typed}
            onText={setTyped}
            maxLength={LIMITS.askQuestionCharsMax}
            autoFocus={isFirst}
          />
        </div>
        <Button type="submit" look="main" icon="comment" disabled={text === ''}>
          {ask.send}
        </Button>
      </div>
      {workspaces.length > 0 && (
        <SelectField
          label={ask.whereTo}
          value={chosen}
          options={[
            { value: '', label: ask.everywhere },
            ...workspaces.map(({ slug, name }) => ({ value: slug, label: ask.within(name) })),
          ]}
          onChoose={setChosen}
        />
      )}
    </form>
  );
}

function TurnView({ turn: { question }, isCurrent }: { readonly turn: Turn; readonly isCurrent: boolean }) {
  const { ask } = words.value;
  const { text, workspace } = question;
  const address = askAddress(text, workspace);
  return (
    <article class="turn">
      <div class="row">
        <h2 class="grow">{isCurrent ? text : <a href={address}>{text}</a>}</h2>
        {isCurrent && <CopyButton text={`${location.origin}${address}`} label={ask.copyLink} />}
      </div>
      {workspace !== undefined && <p class="soft small">{ask.of(seatIn(workspace)?.name ?? workspace)}</p>}
      <AnswerView question={question} advice={<Advice question={question} />} />
    </article>
  );
}

/** What else to try. */
function Advice({ question: { text, workspace } }: { readonly question: Question }) {
  const { ask } = words.value;
  return (
    <>
      <p class="soft small">{ask.otherWords}</p>
      <p class="row">
        {workspace !== undefined && (
          <LinkButton small href={askAddress(text)}>
            {ask.askAll}
          </LinkButton>
        )}
        <Button small icon="search" onClick={() => (isPaletteOpen.value = true)}>
          {ask.search}
        </Button>
      </p>
    </>
  );
}
