/** One question, and its answer while it is written and when it is there. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Answered, Citation } from '../../api/client.ts';
import type { Problem } from '../../api/problem.ts';
import { type Asking, type Question, useAnswer } from '../../state/asking.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Tag } from '../../ui/small.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { soon } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { passageAddress } from './passage.ts';

export interface AnswerViewProps {
  readonly question: Question;
  /** Whether the page that is asked alone is open to everybody. */
  readonly isPublic?: boolean;
  readonly onAnswered?: (answer: Answered) => void;
  /** A link to another screen of the app was followed. */
  readonly onLeave?: () => void;
  /** Below an answer that nothing was found for. */
  readonly advice?: ComponentChildren;
}

export function AnswerView({ question, isPublic = false, onAnswered, onLeave, advice }: AnswerViewProps) {
  const { asking, stop, again } = useAnswer(question);
  const region = useRef<HTMLElement>(null);
  const button = useRef<HTMLDivElement>(null);
  // Before what is rendered now removes the button that has the focus.
  const isOnButton = button.current?.contains(document.activeElement) ?? false;
  const { kind } = asking;
  useLayoutEffect(() => {
    if (isOnButton) region.current?.focus();
    if (asking.kind === 'answered') onAnswered?.(asking.answer);
  }, [kind]);
  const { ask } = words.value;
  return (
    <section class="answer" aria-label={ask.answerTo(question.text)} aria-busy={kind === 'writing'} ref={region} tabIndex={-1}>
      <p class="unseen" role="status">
        {statusOf(asking)}
      </p>
      <AnswerBody asking={asking} onRetry={again} isOwn={question.artifactId !== undefined} isPublic={isPublic} onLeave={onLeave} />
      {asking.kind === 'answered' && asking.answer.citations.length === 0 && advice}
      <div class="row" ref={button}>
        {kind === 'writing' && (
          <Button small icon="close" onClick={stop}>
            {ask.stop}
          </Button>
        )}
        {kind === 'stopped' && (
          <Button small icon="restore" onClick={again}>
            {ask.again}
          </Button>
        )}
      </div>
    </section>
  );
}

/** For screen readers; the answer itself when it is complete, because pieces of words are no help. */
function statusOf(asking: Asking): string {
  const { ask } = words.value;
  switch (asking.kind) {
    case 'writing':
      return asking.text === '' ? ask.reading : ask.writing;
    case 'answered':
      return `${introOf(asking.answer)} ${ask.ready(asking.answer.citations.length)}`;
    case 'stopped':
      return ask.stopped;
    case 'failed':
      // The note of the problem is an alert.
      return '';
    default:
      return asking satisfies never;
  }
}

/** All of the answer but the passages, which are shown with their sources. */
function introOf({ answer, mode, citations }: Answered): string {
  return mode === 'extractive' && citations.length > 0 ? (answer.split('\n\n')[0] ?? '') : answer;
}

/** What decides where links lead. */
interface Links {
  /** Whether the answer is shown on the screen of the only page that it is made from. */
  readonly isOwn: boolean;
  readonly isPublic: boolean;
  readonly onLeave: (() => void) | undefined;
}

interface BodyProps extends Links {
  readonly asking: Asking;
  readonly onRetry: () => void;
}

function AnswerBody({ asking, onRetry, ...links }: BodyProps) {
  const { ask } = words.value;
  switch (asking.kind) {
    case 'writing':
      return asking.text === '' ? (
        <p class="row soft" aria-hidden="true">
          <span class="spinner" />
          <span>{ask.reading}</span>
        </p>
      ) : (
        <p class="answer-text is-writing">{asking.text}</p>
      );
    case 'answered':
      return <Complete answer={asking.answer} {...links} />;
    case 'stopped':
      return (
        <>
          {asking.text !== '' && <p class="answer-text">{asking.text}</p>}
          <p class="soft small">{ask.stopped}</p>
        </>
      );
    case 'failed':
      return (
        <>
          {asking.text !== '' && <p class="answer-text">{asking.text}</p>}
          <Failed problem={asking.problem} onRetry={onRetry} />
        </>
      );
    default:
      return asking satisfies never;
  }
}

/** Where too much was asked, when to ask again. */
function Failed({ problem, onRetry }: { readonly problem: Problem; readonly onRetry: () => void }) {
  const { ask } = words.value;
  if (problem.status !== 429 || problem.retryAfterS === undefined) return <ProblemNote problem={problem} onRetry={onRetry} />;
  return (
    <div class="notice bad" role="alert">
      <p>{ask.limited(soon(problem.retryAfterS))}</p>
      <p class="row">
        <Button small onClick={onRetry}>
          {ask.again}
        </Button>
      </p>
    </div>
  );
}

interface CompleteProps extends Links {
  readonly answer: Answered;
}

function Complete({ answer, ...links }: CompleteProps) {
  const { ask } = words.value;
  const { citations, mode } = answer;
  return (
    <>
      <p class="answer-text">{mode === 'generated' ? <Marked answer={answer} isPublic={links.isPublic} /> : introOf(answer)}</p>
      {citations.length > 0 && (
        <>
          <p>
            <Tag icon={mode === 'extractive' ? 'list' : 'robot'}>{mode === 'extractive' ? ask.passages : ask.written}</Tag>
          </p>
          <ol class="citations" aria-label={ask.sources}>
            {citations.map((citation, at) => (
              <Source key={at} no={at + 1} citation={citation} {...links} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}

interface SourceProps extends Links {
  readonly no: number;
  readonly citation: Citation;
}

function Source({ no, citation, isOwn, isPublic, onLeave }: SourceProps) {
  const { ask } = words.value;
  const { artifact_id, title, quote } = citation;
  return (
    <li class="citation">
      <p class="citation-head">
        <span class="citation-no" aria-hidden="true">
          {no}
        </span>
        {isOwn ? (
          <strong class="grow">{title}</strong>
        ) : (
          <a class="grow" href={`/p/${artifact_id}`} onClick={onLeave}>
            <strong>{title}</strong>
          </a>
        )}
        <a class="small" href={passageAddress(citation, isPublic)} target="_blank" rel="noopener" aria-label={ask.onPageOf(title)}>
          {ask.onPage} <Icon name="external" size={14} />
        </a>
      </p>
      <blockquote class="citation-quote">{quote}</blockquote>
    </li>
  );
}

/** The text with its [1] as links to the passages. */
function Marked({ answer: { answer, citations }, isPublic }: Pick<CompleteProps, 'answer' | 'isPublic'>) {
  const { ask } = words.value;
  return (
    <>
      {answer.split(/\[(\d+)\]/).map((part, at) => {
        if (at % 2 === 0) return part;
        const cited = citations[Number(part) - 1];
        if (cited === undefined) return `[${part}]`;
        return (
          <a
            key={at}
            class="citation-no"
            href={passageAddress(cited, isPublic)}
            target="_blank"
            rel="noopener"
            aria-label={ask.source(Number(part), cited.title)}
          >
            {part}
          </a>
        );
      })}
    </>
  );
}
