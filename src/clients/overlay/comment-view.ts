/** One comment with its controls. */
import type { Comment } from '../page/wire.ts';
import { Composer } from './composer.ts';
import { button, h, icon, refill } from './element.ts';
import { TEXT } from './strings.ts';
import { busy, nameOf, timeAgo, type Ui } from './ui.ts';

const EMOJI = ['👍', '❤️', '🎉', '😄', '🤔', '👀'];
const FACE = 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM9 10v.01M15 10v.01M8.5 14.5c2 2.2 5 2.2 7 0';

type State = 'shown' | 'choosing' | 'editing' | 'deleting';

export class CommentView {
  readonly element = h('div', { class: 'comment' });
  readonly #ui: Ui;
  #comment: Comment;
  #state: State = 'shown';
  #isFresh = false;
  /** Key of the values besides the comment that determine the rendering; empty before the first. */
  #look = '';

  constructor(ui: Ui, comment: Comment) {
    this.#ui = ui;
    this.#comment = comment;
  }

  update(comment: Comment, isFresh: boolean): void {
    const { visitor } = this.#ui;
    const look = `${isFresh} ${visitor.isKnown} ${visitor.maySettle(comment)} ${visitor.mayProve} ${timeAgo(comment.createdAt)}`;
    const isOther = comment !== this.#comment || look !== this.#look;
    this.#comment = comment;
    this.#isFresh = isFresh;
    this.#look = look;
    // An open editor keeps its text.
    if (isOther && this.#state !== 'editing') this.#draw();
  }

  #become(state: State, focusKey: string): void {
    this.#state = state;
    this.#draw();
    this.element.querySelector<HTMLElement>(`[data-key="${focusKey}"]`)?.focus();
  }

  #draw(): void {
    refill(this.element, this.#head(), this.#state === 'editing' ? this.#editor() : this.#text(), this.#under());
    if (this.#state === 'editing') this.element.querySelector('textarea')?.focus();
  }

  #head(): HTMLElement {
    const { visitor } = this.#ui;
    const { authorType, createdAt, edited } = this.#comment;
    const name = nameOf(this.#comment);
    return h(
      'div',
      { class: 'head' },
      h('span', { class: 'face', 'aria-hidden': 'true', 'data-tint': tint(name) }, [...name][0]?.toUpperCase() ?? ''),
      h('b', { dir: 'auto' }, name),
      visitor.isMine(this.#comment) && h('span', { class: 'tag' }, TEXT.you),
      authorType === 'agent' && h('span', { class: 'tag' }, TEXT.agent),
      this.#isFresh && h('span', { class: 'tag fresh' }, TEXT.fresh),
      h('time', { datetime: createdAt, title: new Date(createdAt).toLocaleString() }, timeAgo(createdAt)),
      edited && h('small', {}, TEXT.edited),
    );
  }

  #text(): HTMLElement {
    // A mention has the form `@[name](id)`.
    return h('p', { class: 'text', dir: 'auto' }, this.#comment.content.replace(/@\[([^\]\n]+)\]\([a-z_0-9]+\)/g, '@$1'));
  }

  #editor(): HTMLElement {
    const leave = () => this.#become('shown', 'edit');
    return new Composer({
      label: TEXT.editLabel,
      action: TEXT.save,
      text: this.#comment.content,
      submit: async ({ content }) => {
        await this.#ui.edit(this.#comment, content);
        leave();
      },
      cancel: leave,
    }).element;
  }

  #under(): HTMLElement | false {
    const parts = [...this.#reactions(), ...(this.#state === 'editing' ? [] : this.#tools())];
    return parts.length > 0 && h('div', { class: 'row', keydown: (event) => this.#leaveChoice(event) }, ...parts);
  }

  #reactions(): HTMLElement[] {
    const { visitor } = this.#ui;
    const chips = Object.entries(this.#comment.reactions).map(([emoji, { count, mine = false }]) => {
      const name = TEXT.reaction(emoji, count, mine);
      const words = `${emoji} ${count}`;
      if (!visitor.isKnown) return h('span', { class: 'chip', role: 'img', 'aria-label': name }, words);
      return this.#reactButton(emoji, words, { 'aria-label': name, 'aria-pressed': mine ? 'true' : 'false' });
    });
    const mayReact = visitor.isKnown || visitor.mayProve;
    if (!mayReact) return chips;
    const isOpen = this.#state === 'choosing';
    const toggle = () => {
      if (visitor.isKnown) this.#become(isOpen ? 'shown' : 'choosing', 'react');
      else this.#ui.signIn();
    };
    const more = button(
      '',
      toggle,
      { class: 'chip add', 'aria-label': TEXT.react, 'aria-expanded': isOpen ? 'true' : 'false', 'data-key': 'react' },
      icon(FACE),
    );
    const unused = EMOJI.filter((emoji) => this.#comment.reactions[emoji] === undefined);
    const choice = isOpen ? unused.map((emoji) => this.#reactButton(emoji, emoji, { 'aria-label': TEXT.reactWith(emoji) })) : [];
    return [...chips, more, ...choice];
  }

  #leaveChoice(event: Event): void {
    if ((event as KeyboardEvent).key !== 'Escape' || this.#state !== 'choosing') return;
    event.stopPropagation();
    this.#become('shown', 'react');
  }

  #reactButton(emoji: string, words: string, more: Readonly<Record<string, string>>): HTMLElement {
    const react = async () => {
      await this.#ui.react(this.#comment, emoji);
      if (this.#state === 'choosing') this.#become('shown', 'react');
    };
    const chip = button(words, () => busy(chip, react, (error) => this.#ui.fail(error)), {
      class: 'chip',
      'data-key': `react ${emoji}`,
      ...more,
    });
    return chip;
  }

  #tools(): HTMLElement[] {
    const { visitor } = this.#ui;
    if (!visitor.maySettle(this.#comment) || this.#state === 'choosing') return [];
    if (this.#state !== 'deleting') {
      const edit = button(TEXT.edit, () => this.#become('editing', ''), { class: 'plain', 'data-key': 'edit' });
      const remove = button(TEXT.delete, () => this.#become('deleting', 'sure'), { class: 'plain', 'data-key': 'delete' });
      return visitor.isAuthor(this.#comment) ? [edit, remove] : [remove];
    }
    const remove = () => this.#ui.remove(this.#comment);
    const sure = button(TEXT.deleteYes, () => busy(sure, remove, (error) => this.#ui.fail(error)), {
      class: 'plain danger',
      'data-key': 'sure',
    });
    return [sure, button(TEXT.cancel, () => this.#become('shown', 'delete'), { class: 'plain' })];
  }
}

const TINTS = 6;

/** A colour number that depends only on the name. */
function tint(name: string): number {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return sum % TINTS;
}
