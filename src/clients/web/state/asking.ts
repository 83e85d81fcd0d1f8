/** Questions that are answered from pages, read while the answer is written. Nothing of them is kept beyond the screen that shows them. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Answered, streamed } from '../api/client.ts';
import { Problem, problemOf } from '../api/problem.ts';
import { words } from '../words/words.ts';

export interface Said {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export interface Question {
  readonly text: string;
  /** Answered from this one alone; undefined for all pages that the person may open. */
  readonly artifactId?: string;
  /** Id or slug: answered from its pages alone. */
  readonly workspace?: string;
  /** What was said before, oldest first. Only of one page. */
  readonly history?: readonly Said[];
}

/** The screen that asks it. A question of one page has none. */
export function askAddress(text: string, workspace?: string): string {
  return `/ask?${new URLSearchParams({ q: text, ...(workspace !== undefined && { workspace }) })}`;
}

/** `text`: what is written so far, empty before the first piece. */
export type Asking =
  | { readonly kind: 'writing' | 'stopped'; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string; readonly problem: Problem }
  | { readonly kind: 'answered'; readonly answer: Answered };

interface Pieces {
  readonly signal: AbortSignal;
  /** All of the text so far. */
  readonly onText: (text: string) => void;
}

const BEGUN: Asking = { kind: 'writing', text: '' };

/** Asks when it is first shown, and again on demand. An answer that is not shown any longer is not waited for. */
export function useAnswer(question: Question) {
  const [asking, setAsking] = useState(BEGUN);
  const [attempt, setAttempt] = useState(0);
  const ended = useRef<AbortController>(null);
  useEffect(() => {
    const ending = new AbortController();
    let isShown = true;
    let written = '';
    const show = (next: Asking) => {
      if (isShown) setAsking(next);
    };
    show(BEGUN);
    ended.current = ending;
    const onText = (text: string) => {
      written = text;
      show({ kind: 'writing', text });
    };
    readAnswer(question, { signal: ending.signal, onText }).then(
      (answer) => show({ kind: 'answered', answer }),
      (error: unknown) => show(ending.signal.aborted ? { kind: 'stopped', text: written } : failed(error, written)),
    );
    return () => {
      isShown = false;
      ending.abort();
    };
  }, [question, attempt]);
  const isCutOff = asking.kind === 'failed' && asking.problem.isOffline;
  // Before anybody sees that it is cut off: an effect that waits for the next frame misses a connection that is back by then.
  useLayoutEffect(() => {
    if (!isCutOff) return undefined;
    const onBack = () => setAttempt((count) => count + 1);
    addEventListener('online', onBack);
    return () => removeEventListener('online', onBack);
  }, [isCutOff]);
  return { asking, stop: () => ended.current?.abort(), again: () => setAttempt(attempt + 1) };
}

function failed(error: unknown, text: string): Asking {
  return { kind: 'failed', text, problem: problemOf(error) };
}

/** Throws a `Problem`, and AbortError where the signal ends it. */
async function readAnswer({ text: question, artifactId, workspace, history }: Question, { signal, onText }: Pieces): Promise<Answered> {
  const reply = await (artifactId === undefined
    ? streamed('ask.ask', { body: { question, workspace }, signal })
    : streamed('ask.agent', { params: { artifactId }, body: { question, history }, signal }));
  let text = '';
  for await (const { event, data } of eventsOf(reply, signal)) {
    if (event === 'done') return data as Answered;
    text += (data as { readonly text: string }).text;
    onText(text);
  }
  throw broken();
}

async function* eventsOf({ body }: Response, signal: AbortSignal) {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      const blocks = (rest + decoder.decode(read.value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, event, data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
        if (event !== undefined) yield { event, data: JSON.parse(data) as unknown };
      }
    }
  } catch (error) {
    // The server breaks the connection where access has ended or the service stops.
    throw signal.aborted ? error : broken();
  } finally {
    void reader?.cancel().catch(() => undefined);
  }
}

function broken(): Problem {
  return new Problem({ status: 0, code: 'ANSWER_BROKEN', message: words.value.ask.broken });
}
