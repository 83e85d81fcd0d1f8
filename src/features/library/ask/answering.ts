/** Makes an answer from sources: by the model where there is one, else of the passages as they are. Nothing of it is kept or logged. */
import type { Clock, Log } from '../../../../actors/runtime/ports.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Locale } from '../../../mail/templates/message.ts';
import { type Holders, type Refusals, Shares } from '../../../platform/shares.ts';
import { Cleaning } from './cleaning.ts';
import { extracted, nothingFound } from './extractive.ts';
import { chat, ModelFailure, type ModelSettings } from './model.ts';
import { messagesFor, type Said } from './prompt.ts';
import { type Answered, citationOf, type Source } from './sources.ts';

export interface Asked {
  readonly question: string;
  readonly history: readonly Said[];
  /** Best first. */
  readonly sources: readonly Source[];
  /** What does not fit the question, but may tell a model something: nobody else is shown it. */
  readonly others: readonly Source[];
  readonly locale: Locale;
  readonly holders: Holders;
}

/** A piece of the text, or the whole answer, which comes last. */
export type AnswerPart = { readonly text: string; readonly whole?: undefined } | { readonly whole: Answered; readonly text?: undefined };

export interface AnsweringDeps {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  readonly refusals: Refusals;
  /** Undefined for none. */
  readonly model: ModelSettings | undefined;
}

export class Answering {
  readonly #deps: AnsweringDeps;
  readonly #calls = new Shares({
    total: LIMITS.askModelCallsMax,
    network: LIMITS.askModelCallsPerCallerMax * 2,
    caller: LIMITS.askModelCallsPerCallerMax,
    artifact: LIMITS.askModelCallsPerArtifactMax,
  });

  constructor(deps: AnsweringDeps) {
    this.#deps = deps;
  }

  /** Calls of the model under way. */
  get calls(): number {
    return this.#calls.total;
  }

  async *answer(asked: Asked, signal: AbortSignal): AsyncGenerator<AnswerPart> {
    const { sources, others, locale, holders } = asked;
    const { model, refusals, log } = this.#deps;
    if (sources.length + others.length === 0) return yield { whole: nothingFound(locale) };
    if (model === undefined) return yield { whole: extracted(sources, 'no_model', locale) };
    const exhausted = this.#calls.take(1, holders);
    if (exhausted !== undefined) {
      refusals.refused('answers', exhausted);
      return yield { whole: extracted(sources, 'failed', locale) };
    }
    try {
      yield* this.#generated(model, asked, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelFailure)) throw error;
      log.warn({ reason: error.message }, 'a question was answered without the model');
      yield { whole: extracted(sources, 'failed', locale) };
    } finally {
      this.#calls.give(1, holders);
    }
  }

  async *#generated(model: ModelSettings, { question, history, ...asked }: Asked, signal: AbortSignal): AsyncGenerator<AnswerPart> {
    const deadline = new Deadline(this.#deps.clock, signal);
    const sources = [...asked.sources, ...asked.others];
    const cleaning = new Cleaning(sources);
    try {
      for await (const piece of chat(model, messagesFor(question, sources, history), deadline.signal)) {
        deadline.moved();
        const text = cleaning.push(piece);
        if (text !== '') yield { text };
        if (cleaning.text.length > LIMITS.askAnswerCharsMax) break;
      }
    } catch (error) {
      // What an interrupted read throws depends on where it was.
      throw deadline.isOver ? new ModelFailure('the model takes too long', { cause: error }) : asModelFailure(error, signal);
    } finally {
      deadline.end();
    }
    const rest = cleaning.end();
    if (cleaning.text.trim() === '') throw new ModelFailure('the model answered with nothing');
    if (rest !== '') yield { text: rest };
    yield { whole: { answer: cleaning.text.trim(), citations: cleaning.cited.map(citationOf), mode: 'generated' } };
  }
}

/** A connection that breaks is a failure of the model too. */
function asModelFailure(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted || error instanceof ModelFailure ? error : new ModelFailure('the connection to the model broke', { cause: error });
}

/** Ends the call of the model when it takes too long in all, or is silent for too long. */
class Deadline {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #ended = new AbortController();
  readonly #caller: AbortSignal;
  readonly #leave = () => this.#ended.abort(this.#caller.reason);
  readonly #whole: ReturnType<Clock['after']>;
  #idle: ReturnType<Clock['after']>;
  #isOver = false;

  constructor(clock: Pick<Clock, 'after'>, caller: AbortSignal) {
    this.#clock = clock;
    this.#caller = caller;
    if (caller.aborted) this.#leave();
    caller.addEventListener('abort', this.#leave, { once: true });
    this.#whole = clock.after(LIMITS.askModelMs, () => this.#late());
    this.#idle = clock.after(LIMITS.askModelIdleMs, () => this.#late());
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  moved(): void {
    this.#idle.cancel();
    this.#idle = this.#clock.after(LIMITS.askModelIdleMs, () => this.#late());
  }

  end(): void {
    this.#whole.cancel();
    this.#idle.cancel();
    this.#caller.removeEventListener('abort', this.#leave);
  }

  #late(): void {
    this.#isOver = true;
    this.#ended.abort(new ModelFailure('the model takes too long'));
  }
}
