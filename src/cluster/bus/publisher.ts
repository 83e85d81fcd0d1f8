/** Sends this node's facts in order: those that could not be sent are kept and sent later, and beyond a bound are replaced by a gap. */
import type { Log } from '../../../actors/runtime/ports.ts';
import type { Fact } from '../../platform/bus.ts';
import { FACT_CHARS_MAX, FACTS_PER_MESSAGE_MAX, MESSAGE_CHARS_MAX, messageText } from './messages.ts';

/** Kept while they cannot be sent. Beyond this others have to decide everything anew anyway. */
const WAITING_CHARS_MAX = 4 * 1024 * 1024;

export interface PublisherDeps {
  readonly node: string;
  /** Of this node now; null while it is no member. */
  readonly incarnation: () => string | null;
  readonly epoch: string;
  readonly log: Log;
  /** Rejects where it is not known that the text was sent. */
  readonly send: (text: string) => Promise<void>;
}

export class FactPublisher {
  readonly #deps: PublisherDeps;
  /** Facts that were not sent yet, as JSON; the last has the number `#toldSeq`. */
  #waiting: string[] = [];
  #waitingChars = 0;
  #toldSeq = 0;
  #sending: Promise<boolean> | undefined;
  #isEnding = false;
  /** The log gets the first failure of a row. */
  #isFailing = false;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
  }

  tell(fact: Fact): void {
    this.#toldSeq += 1;
    const text = JSON.stringify(fact);
    this.#waiting.push(text);
    this.#waitingChars += text.length;
    // The numbers go on, so that whoever hears the next message notices that some are missing.
    if (text.length > FACT_CHARS_MAX || this.#waitingChars > WAITING_CHARS_MAX) this.#skipWaiting();
    void this.send();
  }

  /** Sends what waits, or a heartbeat where nothing does. Never rejects. At most one message is under way. */
  async send(): Promise<void> {
    if (this.#sending !== undefined || this.#isEnding) return;
    do {
      this.#sending = this.#sendOne(false);
    } while ((await this.#settled()) && this.#waiting.length > 0 && !this.#isEnding);
  }

  /** Sends what waits and says that nothing more will come. False where that did not succeed. */
  async end(): Promise<boolean> {
    this.#isEnding = true;
    await this.#sending;
    while (this.#waiting.length > 0) {
      if (!(await this.#sendOne(false))) return false;
    }
    return this.#sendOne(true);
  }

  async #settled(): Promise<boolean> {
    const isSent = await this.#sending;
    this.#sending = undefined;
    return isSent === true;
  }

  async #sendOne(bye: boolean): Promise<boolean> {
    const { node, incarnation, epoch, log } = this.#deps;
    const part = firstOf(this.#waiting);
    const seq = this.#toldSeq - this.#waiting.length + part.length;
    try {
      await this.#deps.send(messageText({ node, incarnation: incarnation(), epoch, seq, bye }, part));
    } catch (err) {
      if (!this.#isFailing) log.warn({ err }, 'changed facts cannot be told to the other nodes; they are told later');
      this.#isFailing = true;
      return false;
    }
    this.#isFailing = false;
    // What was told meanwhile came behind it, or has replaced it by a gap.
    const sent = Math.max(0, this.#waiting.length - (this.#toldSeq - seq));
    for (const text of this.#waiting.splice(0, sent)) this.#waitingChars -= text.length;
    return true;
  }

  #skipWaiting(): void {
    this.#deps.log.warn({ facts: this.#waiting.length }, 'too many changed facts wait; the other nodes will decide everything anew');
    this.#waiting = [];
    this.#waitingChars = 0;
  }
}

/** As many as one message takes, at least one where there is any. */
function firstOf(waiting: readonly string[]): readonly string[] {
  let chars = 0;
  const end = waiting.findIndex((text, at) => {
    chars += text.length;
    return at === FACTS_PER_MESSAGE_MAX || (at > 0 && chars > MESSAGE_CHARS_MAX);
  });
  return end === -1 ? waiting.slice() : waiting.slice(0, end);
}
