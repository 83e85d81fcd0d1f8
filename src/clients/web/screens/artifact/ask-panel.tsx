/** The page's own agent: questions that are answered from this page alone, with what was said before. */
import { useRef, useState } from 'preact/hooks';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Answered, Artifact } from '../../api/client.ts';
import type { Question, Said } from '../../state/asking.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { words } from '../../words/words.ts';
import { AnswerView } from '../ask/answer-view.tsx';

interface Turn {
  readonly no: number;
  readonly question: Question;
}

/** Questions that stay in view, each with its answer. */
const TURNS_MAX = LIMITS.askHistoryMax / 2;

export function AskPanel({ artifact }: { readonly artifact: Artifact }) {
  const [text, setText] = useState('');
  /** Newest first. */
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const said = useRef<readonly Said[]>([]);
  const { ask } = words.value;
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted === '') return;
    const question = { text: wanted, artifactId: artifact.id, history: said.current };
    setTurns([{ no: (turns[0]?.no ?? 0) + 1, question }, ...turns.slice(0, TURNS_MAX - 1)]);
    setText('');
  };
  const remember = (question: string, { answer }: Answered) => {
    const both = [
      { role: 'user', text: question },
      { role: 'assistant', text: answer.slice(0, LIMITS.askHistoryCharsMax) },
    ] as const;
    said.current = [...said.current, ...both].slice(-LIMITS.askHistoryMax);
  };
  return (
    <section class="panel" aria-labelledby="ask-page">
      <h2 id="ask-page">{ask.page}</h2>
      <p class="soft small">{ask.pageText}</p>
      <form class="row ask-form" onSubmit={send}>
        <div class="grow">
          <TextField label={ask.question} hideLabel value={text} onText={setText} maxLength={LIMITS.askQuestionCharsMax} />
        </div>
        <Button type="submit" look="main" icon="comment" disabled={text.trim() === ''}>
          {ask.send}
        </Button>
      </form>
      {turns.map(({ no, question }) => (
        <article key={no} class="turn">
          <h3>{question.text}</h3>
          <AnswerView
            question={question}
            isPublic={artifact.visibility === 'public'}
            onAnswered={(answer) => remember(question.text, answer)}
          />
        </article>
      ))}
    </section>
  );
}
