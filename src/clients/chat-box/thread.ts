/** What was said in the chat of this visitor, and how soon it is read again: often while an answer is looked for, seldom while nothing comes. */
import type * as api from '../page/api-outside.ts';
import type { PageChatMessage, PageChatPage } from '../page/wire.ts';

/** The data of a page has one limit for all its visitors, so that what looks for answers must become seldom. */
const OPEN_MS = 3000;
const OPEN_MS_MAX = 20_000;
const CLOSED_MS = 20_000;
const CLOSED_MS_MAX = 120_000;
const GROWTH = 1.25;

export type ThreadState = 'current' | 'offline';

export interface ThreadDeps {
  readonly chat: Pick<api.Chat, 'read' | 'write'>;
  /** After every change; `added`: what the makers have written since. */
  readonly told: (added: readonly PageChatMessage[]) => void;
  readonly isHidden: () => boolean;
  /** Runs `then` after `ms`, unless the returned function is called before. */
  readonly later: (ms: number, then: () => void) => () => void;
}

export class Thread {
  readonly #deps: ThreadDeps;
  readonly #messages = new Map<string, PageChatMessage>();
  #status: PageChatPage['status'] = 'open';
  #state: ThreadState = 'current';
  /** The last message that was read: one that was written may have others before it that were not. */
  #readTo: string | undefined;
  #isOpen = false;
  #waitMs = OPEN_MS;
  #stop: () => void = () => undefined;
  #reading: Promise<void> | undefined;

  constructor(deps: ThreadDeps) {
    this.#deps = deps;
  }

  /** The oldest first. */
  get messages(): readonly PageChatMessage[] {
    return [...this.#messages.values()].sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  }

  get status(): PageChatPage['status'] {
    return this.#status;
  }

  get state(): ThreadState {
    return this.#state;
  }

  /** Whether somebody looks at it. */
  look(isOpen: boolean): void {
    this.#isOpen = isOpen;
    this.wake();
  }

  /** Reads at once, and often for a while. */
  wake(): void {
    this.#waitMs = this.#isOpen ? OPEN_MS : CLOSED_MS;
    void this.read();
  }

  async write(text: string, about: Pick<api.ChatOptions, 'name' | 'email'>): Promise<void> {
    const { status, message } = await this.#deps.chat.write(text, about);
    this.#status = status;
    this.#messages.set(message.id, message);
    this.#deps.told([]);
    this.wake();
  }

  /** Whoever reads meanwhile is answered by the read that is under way. */
  read(): Promise<void> {
    this.#stop();
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
      this.#again();
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const added: PageChatMessage[] = [];
    const [status, state] = [this.#status, this.#state];
    try {
      for (let hasMore = true; hasMore; ) {
        const page = await this.#deps.chat.read({ after: this.#readTo });
        hasMore = page.hasMore;
        // Without messages the visitor may have none yet, and then this is no news of what was written meanwhile.
        if (page.messages.length > 0 || this.#readTo !== undefined) this.#status = page.status;
        added.push(...this.#take(page.messages));
      }
      this.#state = 'current';
    } catch (error) {
      console.debug('the chat could not be read', error);
      this.#state = 'offline';
    }
    if (added.length > 0) this.#waitMs = this.#isOpen ? OPEN_MS : CLOSED_MS;
    if (added.length > 0 || status !== this.#status || state !== this.#state) this.#deps.told(added);
  }

  /** Those of the makers that are new. */
  #take(messages: readonly PageChatMessage[]): PageChatMessage[] {
    const fresh = messages.filter(({ id, author }) => author !== 'visitor' && !this.#messages.has(id));
    for (const message of messages) this.#messages.set(message.id, message);
    this.#readTo = messages.at(-1)?.id ?? this.#readTo;
    return fresh;
  }

  /** A visitor who has written nothing waits for nothing, and a page that nobody sees reads when it is seen again. */
  #again(): void {
    if (this.#messages.size === 0 || this.#deps.isHidden()) return;
    const max = this.#isOpen && this.#status !== 'closed' ? OPEN_MS_MAX : CLOSED_MS_MAX;
    this.#stop();
    this.#stop = this.#deps.later(this.#waitMs, () => void this.read());
    this.#waitMs = Math.min(max, this.#waitMs * GROWTH);
  }
}
