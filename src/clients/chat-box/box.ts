/** The chat of a page: a button, and the panel that it opens. */
import { button, focused, h, icon } from '../overlay/element.ts';
import { Host } from '../overlay/host.ts';
import { atMost, busy } from '../overlay/ui.ts';
import type { CommentsSurroundings } from '../page/browser.ts';
import { chatOf } from '../page/chat.ts';
import { EaselError } from '../page/errors.ts';
import { Transport } from '../page/transport.ts';
import type { PageChatMessage } from '../page/wire.ts';
import { type Texts, textsFor } from './strings.ts';
import { STYLE } from './style.ts';
import { Thread } from './thread.ts';

export const HOST_NAME = 'easel-chat';

const BUBBLE = 'M4 5h16v11H10l-5 4v-4H4z';
const CROSS = 'M6 6l12 12M18 6 6 18';
// Source: chatCharsMax, nameCharsMax and emailCharsMax of the protocol's limits.
export const TEXT_CHARS_MAX = 5000;
export const NAME_CHARS_MAX = 200;
export const EMAIL_CHARS_MAX = 254;

export interface BoxSite {
  readonly artifactId: string;
  readonly greeting: string;
  /** The comments have their button in the same corner. */
  readonly isBeside: boolean;
}

export class Box {
  readonly #site: BoxSite;
  readonly #around: CommentsSurroundings;
  readonly #words: Texts;
  readonly #host: Host;
  readonly #thread: Thread;
  readonly #badge = h('b', { 'aria-hidden': 'true', hidden: true });
  readonly #launcher: HTMLButtonElement;
  readonly #panel: HTMLElement;
  readonly #body: HTMLElement;
  readonly #list = h('ol');
  readonly #note = h('p', { class: 'note', role: 'status' });
  readonly #problem = h('p', { class: 'problem', role: 'alert' });
  readonly #status = h('p', { class: 'sr', role: 'status' });
  readonly #field: HTMLTextAreaElement;
  readonly #name = atMost(h('input', { autocomplete: 'name', dir: 'auto' }), NAME_CHARS_MAX);
  readonly #email = h('input', { type: 'email', autocomplete: 'email', maxlength: EMAIL_CHARS_MAX });
  readonly #about: HTMLElement;
  readonly #send: HTMLButtonElement;
  /** The messages that are on the page, by id. */
  readonly #shown = new Map<string, HTMLElement>();
  #unread = 0;

  constructor(site: BoxSite, around: CommentsSurroundings) {
    this.#site = site;
    this.#around = around;
    const words = textsFor(document.documentElement.lang, navigator.language);
    this.#words = words;
    this.#host = new Host(HOST_NAME, STYLE);
    this.#host.all.lang = words.lang;
    const transport = new Transport({ artifactId: site.artifactId }, around, () => undefined);
    this.#thread = new Thread({
      chat: chatOf(site.artifactId, transport, around),
      told: (added) => this.#told(added),
      isHidden: () => document.hidden,
      later: (ms, then) => {
        const timer = setTimeout(then, ms);
        return () => clearTimeout(timer);
      },
    });
    const opens = { class: 'launcher', 'aria-haspopup': 'dialog', 'aria-controls': 'panel', 'aria-expanded': 'false' };
    this.#launcher = button('', () => (this.#panel.hidden ? this.#open() : this.#close()), opens, icon(BUBBLE), this.#badge);
    this.#field = atMost(h('textarea', { rows: 2, required: true, dir: 'auto', 'aria-describedby': 'hint' }), TEXT_CHARS_MAX);
    this.#about = h(
      'div',
      { class: 'about', hidden: true },
      h('label', {}, words.name, this.#name),
      h('label', {}, words.email, this.#email),
    );
    this.#send = h('button', { type: 'submit', class: 'send' }, words.send);
    // What scrolls must be reached by keyboard.
    this.#body = h(
      'div',
      { class: 'body', role: 'log', 'aria-label': words.messages, tabindex: 0 },
      h('p', { class: 'greeting' }, site.greeting === '' ? words.greeting : site.greeting),
      this.#list,
    );
    this.#panel = h(
      'section',
      { class: 'panel', id: 'panel', role: 'dialog', 'aria-labelledby': 'title', hidden: true },
      h(
        'div',
        { class: 'header' },
        h('h2', { id: 'title' }, words.title),
        button('', () => this.#close(), { class: 'close', 'aria-label': words.close }, icon(CROSS)),
      ),
      this.#body,
      this.#note,
      this.#form(),
    );
    this.#host.all.classList.toggle('beside', site.isBeside);
    this.#host.all.append(this.#launcher, this.#panel, this.#status);
  }

  mount(): void {
    this.#draw();
    this.#host.mount();
    this.#host.root.addEventListener('keydown', (event) => {
      if ((event as KeyboardEvent).key === 'Escape' && !(event as KeyboardEvent).isComposing && !this.#panel.hidden) this.#close();
    });
    this.#around.onWake(() => this.#thread.wake());
    this.#thread.wake();
  }

  #form(): HTMLFormElement {
    const { message, hint } = this.#words;
    const keydown = (event: Event) => {
      const { key, shiftKey, isComposing } = event as KeyboardEvent;
      if (key === 'Enter' && !shiftKey && !isComposing) this.#submit(event);
    };
    this.#field.addEventListener('keydown', keydown);
    // What was wrong is about what stood there before.
    const input = () => {
      this.#problem.textContent = '';
    };
    return h(
      'form',
      { novalidate: true, input, submit: (event) => this.#submit(event) },
      this.#about,
      h('label', {}, message, this.#field),
      this.#problem,
      h('div', { class: 'foot' }, h('span', { class: 'hint', id: 'hint' }, hint), this.#send),
    );
  }

  #submit(event: Event): void {
    event.preventDefault();
    this.#problem.textContent = '';
    const text = this.#field.value.trim();
    const wrong = text === '' ? this.#field : this.#about.hidden || this.#email.checkValidity() ? undefined : this.#email;
    if (wrong !== undefined) {
      if (wrong === this.#email) this.#problem.textContent = wrong.validationMessage;
      wrong.focus();
      return;
    }
    const [name, email] = [this.#name.value.trim(), this.#email.value.trim()];
    const about = this.#about.hidden ? {} : { name: name === '' ? undefined : name, email: email === '' ? undefined : email };
    const run = async () => {
      await this.#thread.write(text, about);
      // What was typed while it was on its way stays.
      if (this.#field.value.trim() === text) this.#field.value = '';
      this.#field.focus();
    };
    void busy(this.#send, run, (error) => {
      this.#problem.textContent = this.#messageOf(error);
    });
  }

  #messageOf(error: unknown): string {
    return error instanceof EaselError ? (this.#words.errors[error.code] ?? error.message) : String(error);
  }

  #told(added: readonly PageChatMessage[]): void {
    const seen = this.#around.kept(this.#seenName);
    const { messages } = this.#thread;
    const seenAt = messages.findIndex(({ id }) => id === seen);
    this.#unread = messages.slice(seenAt + 1).filter(({ author }) => author !== 'visitor').length;
    if (!this.#panel.hidden) this.#saw();
    const last = added.at(-1);
    // An open panel reads its list out by itself.
    if (last !== undefined && this.#panel.hidden) this.#status.textContent = this.#words.said(this.#nameOf(last), last.text);
    this.#draw();
  }

  get #seenName(): string {
    return `easel.chat.seen.${this.#site.artifactId}`;
  }

  #saw(): void {
    this.#unread = 0;
    const last = this.#thread.messages.at(-1);
    if (last !== undefined) this.#around.keep(this.#seenName, last.id);
  }

  #open(): void {
    this.#panel.hidden = false;
    this.#saw();
    this.#draw();
    this.#thread.look(true);
    this.#body.scrollTop = this.#body.scrollHeight;
    this.#field.focus();
  }

  #close(): void {
    const isWithin = focused(this.#panel) !== null;
    this.#panel.hidden = true;
    this.#thread.look(false);
    this.#draw();
    if (isWithin) this.#launcher.focus();
  }

  #nameOf({ author, name }: PageChatMessage): string {
    return author === 'visitor' ? this.#words.you : (name ?? this.#words.makers);
  }

  #draw(): void {
    const { launcher, resolved, waits, offline } = this.#words;
    const { messages, status, state } = this.#thread;
    this.#launcher.setAttribute('aria-label', launcher(this.#unread));
    this.#launcher.setAttribute('aria-expanded', String(!this.#panel.hidden));
    this.#badge.hidden = this.#unread === 0;
    this.#badge.textContent = String(this.#unread);
    this.#about.hidden = messages.length > 0;
    this.#list.hidden = messages.length === 0;
    const isSettled = status === 'resolved' || status === 'closed';
    const note = messages.length === 0 ? '' : isSettled ? resolved : messages.at(-1)?.author === 'visitor' ? waits : '';
    const said = state === 'offline' ? offline : note;
    // A live region that is filled again is read out again.
    if (this.#note.textContent !== said) this.#note.textContent = said;
    this.#arrange(messages);
  }

  #arrange(messages: readonly PageChatMessage[]): void {
    const isAtEnd = this.#body.scrollHeight - this.#body.scrollTop - this.#body.clientHeight < 60;
    let before: HTMLElement | undefined;
    let isAdded = false;
    for (const message of messages) {
      const known = this.#shown.get(message.id);
      const element = known ?? this.#elementOf(message);
      if (known === undefined) {
        this.#shown.set(message.id, element);
        if (before === undefined) this.#list.prepend(element);
        else before.after(element);
        isAdded = true;
      }
      before = element;
    }
    if (isAdded && (isAtEnd || messages.at(-1)?.author === 'visitor')) this.#body.scrollTop = this.#body.scrollHeight;
  }

  #elementOf(message: PageChatMessage): HTMLElement {
    const { author, text } = message;
    const who = author === 'system' ? undefined : h('p', { class: 'who' }, this.#nameOf(message));
    const look = author === 'visitor' ? 'mine' : author;
    return h('li', { class: look }, who, h('p', { class: 'text', dir: 'auto' }, text));
  }
}
