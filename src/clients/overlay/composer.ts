/** Where somebody writes: a new comment, a reply, or what is to be in the place of a comment. */
import { button, h } from './element.ts';
import { TEXT } from './strings.ts';
import { busy, type Draft, messageOf } from './ui.ts';
import type { Visitor } from './visitor.ts';

export interface ComposerOptions {
  /** What it is for, as its name and in the empty field. */
  readonly label: string;
  readonly action: string;
  readonly text?: string;
  /** Whose name is asked for; absent where the writer is known already. */
  readonly visitor?: Visitor;
  readonly submit: (draft: Draft) => Promise<void>;
  readonly cancel?: () => void;
}

// Source: commentCharsMax and commentNameCharsMax of protocol/limits.ts.
export const CONTENT_CHARS_MAX = 10_000;
export const NAME_CHARS_MAX = 80;

export class Composer {
  readonly element: HTMLFormElement;
  readonly #field: HTMLTextAreaElement;
  readonly #name: HTMLInputElement;
  readonly #nameLabel: HTMLLabelElement;
  readonly #nameText = h('span');
  readonly #problem = h('p', { class: 'problem', role: 'alert' });
  readonly #send: HTMLButtonElement;
  readonly #options: ComposerOptions;

  constructor(options: ComposerOptions) {
    this.#options = options;
    const { label, action, text = '', cancel } = options;
    this.#field = h('textarea', {
      rows: 3,
      'aria-label': label,
      placeholder: label,
      maxlength: CONTENT_CHARS_MAX,
      required: true,
      dir: 'auto',
    });
    this.#field.value = text;
    this.#name = h('input', { maxlength: NAME_CHARS_MAX, autocomplete: 'name', dir: 'auto' });
    this.#nameLabel = h('label', {}, this.#nameText, this.#name);
    this.#send = h('button', { type: 'submit', class: 'main' }, action);
    this.element = h(
      'form',
      {
        class: 'composer',
        novalidate: true,
        submit: (event) => this.#submit(event),
        keydown: (event) => this.#key(event),
      },
      this.#field,
      this.#nameLabel,
      this.#problem,
      h('div', { class: 'row end' }, cancel !== undefined && button(TEXT.cancel, cancel, { class: 'plain' }), this.#send),
    );
    this.update();
  }

  get isEmpty(): boolean {
    return this.#field.value.trim() === '';
  }

  get content(): string {
    return this.#field.value;
  }

  focus(): void {
    this.#field.focus();
  }

  /** After the visitor has become somebody else. */
  update(): void {
    const asks = this.#options.visitor?.asksName ?? 'no';
    this.#nameLabel.hidden = asks === 'no';
    this.#nameText.textContent = asks === 'required' ? TEXT.yourName : TEXT.yourNameOptional;
    this.#name.required = asks === 'required';
    if (this.#name.value === '') this.#name.value = this.#options.visitor?.name ?? '';
  }

  #key(event: Event): void {
    const { key, ctrlKey, metaKey, isComposing } = event as KeyboardEvent;
    if (key === 'Enter' && (ctrlKey || metaKey) && !isComposing) this.#submit(event);
    if (key !== 'Escape' || isComposing || this.#options.cancel === undefined) return;
    // Only this is left, not the whole panel.
    event.stopPropagation();
    this.#options.cancel();
  }

  #submit(event: Event): void {
    event.preventDefault();
    const { visitor, submit } = this.#options;
    const asks = visitor?.asksName ?? 'no';
    const name = this.#name.value.trim();
    if (this.isEmpty) {
      this.focus();
      return;
    }
    if (asks === 'required' && name === '') {
      this.#problem.textContent = TEXT.errors.NAME_REQUIRED ?? '';
      this.#name.focus();
      return;
    }
    this.#problem.textContent = '';
    const content = this.#field.value.trim();
    void busy(
      this.#send,
      async () => {
        if (visitor !== undefined && asks !== 'no') visitor.name = name;
        await submit({ content, authorName: asks === 'no' || name === '' ? undefined : name });
      },
      (error) => {
        this.#problem.textContent = messageOf(error);
      },
    );
  }
}
