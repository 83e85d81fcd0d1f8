/** A thread: the quoted passage, its comments, and the reply form. */
import { CommentView } from './comment-view.ts';
import { Composer } from './composer.ts';
import type { Thread } from './conversation.ts';
import { arrange, button, h, refill } from './element.ts';
import { TEXT } from './strings.ts';
import { busy, nameOf, type Ui } from './ui.ts';

/** `here`: on this page, and the quote, if any, was found. `page`: address of the other page, if known. */
export interface Place {
  readonly section: keyof typeof TEXT.sections;
  readonly isFound: boolean;
  readonly isCurrent: boolean;
  readonly page: string | undefined;
}

export class ThreadView {
  readonly element: HTMLLIElement;
  readonly #ui: Ui;
  readonly #about = h('div', { class: 'about' });
  readonly #list = h('div');
  readonly #foot = h('div', { class: 'foot' });
  readonly #comments = new Map<string, CommentView>();
  #thread: Thread;
  #composer: Composer | undefined;
  /** Key of the values that determine the rendering of everything but the comments. */
  #look = '';

  constructor(ui: Ui, thread: Thread) {
    this.#ui = ui;
    this.#thread = thread;
    this.element = h(
      'li',
      { class: 'thread', tabindex: -1, 'aria-label': TEXT.threadBy(nameOf(thread.root)) },
      this.#about,
      this.#list,
      this.#foot,
    );
  }

  /** `isFresh`: true for a comment that was unread when the panel was opened. */
  update(thread: Thread, place: Place, isFresh: (id: string) => boolean): void {
    this.#thread = thread;
    this.element.classList.toggle('current', place.isCurrent);
    const comments = [thread.root, ...thread.replies];
    const views = comments.map((comment) => {
      const view = this.#comments.get(comment.id) ?? new CommentView(this.#ui, comment);
      this.#comments.set(comment.id, view);
      view.update(comment, isFresh(comment.id));
      view.element.classList.toggle('reply', comment !== thread.root);
      return view.element;
    });
    const wanted = new Set(comments.map(({ id }) => id));
    for (const id of this.#comments.keys()) if (!wanted.has(id)) this.#comments.delete(id);
    arrange(this.#list, views);
    const { visitor } = this.#ui;
    const look = [thread.root.seq, place.section, place.isFound, visitor.maySettle(thread.root), visitor.mayWrite].join();
    if (look !== this.#look) {
      this.#look = look;
      this.#drawAbout(place);
      this.#drawFoot();
    }
    this.#composer?.update();
  }

  #drawAbout({ section, isFound, page }: Place): void {
    const { quote, contextId } = this.#thread.root;
    const words = quote === null ? '' : quote.exact;
    const link =
      section === 'elsewhere' &&
      (page === undefined ? h('small', {}, contextId ?? '') : h('a', { href: page, 'data-key': 'page' }, contextId ?? ''));
    const show = () => {
      if (!this.#ui.show(this.#thread.root)) this.#ui.say(TEXT.notVisible);
    };
    const shown = isFound
      ? button(words, show, { class: 'quote', dir: 'auto', 'aria-label': TEXT.showOnPage(words), 'data-key': 'quote' })
      : h('blockquote', { class: 'quote', dir: 'auto' }, words);
    refill(this.#about, link, quote !== null && shown, section === 'here' && quote !== null && !isFound && h('small', {}, TEXT.notVisible));
  }

  #drawFoot(): void {
    const { visitor } = this.#ui;
    const { root } = this.#thread;
    const mayReply = visitor.site.replies && visitor.mayWrite && !root.resolved;
    if (this.#composer !== undefined) {
      if (this.#composer.element.parentElement !== this.#foot) this.#foot.replaceChildren(this.#composer.element);
      return;
    }
    const next = !root.resolved;
    const settle = button(
      next ? TEXT.resolve : TEXT.reopen,
      () =>
        busy(
          settle,
          () => this.#ui.resolve(root, next),
          (error) => this.#ui.fail(error),
        ),
      {
        class: 'plain',
        'data-key': 'resolve',
      },
    );
    refill(
      this.#foot,
      mayReply &&
        button(TEXT.reply, () => this.#write(), { class: 'plain', 'data-key': 'reply', 'aria-label': TEXT.replyTo(nameOf(root)) }),
      visitor.maySettle(root) && settle,
    );
  }

  #write(): void {
    const leave = () => {
      this.#composer = undefined;
      this.#foot.replaceChildren();
      this.#drawFoot();
      this.#foot.querySelector<HTMLElement>('[data-key="reply"]')?.focus();
    };
    this.#composer = new Composer({
      label: TEXT.replyTo(nameOf(this.#thread.root)),
      action: TEXT.send,
      visitor: this.#ui.visitor,
      submit: async (draft) => {
        await this.#ui.reply(this.#thread.root, draft);
        leave();
      },
      cancel: leave,
    });
    this.#drawFoot();
    this.#composer.focus();
  }
}
