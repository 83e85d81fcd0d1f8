/** The form for a new comment, a reply, or a change of a comment. */
import { button, h } from './element.ts';
import { TEXT } from './strings.ts';
import { atMost, busy, type Draft, messageOf } from './ui.ts';
import type { Visitor } from './visitor.ts';

export interface ComposerOptions {
  /** Accessible name and placeholder of the text field. */
  readonly label: string;
  readonly action: string;
  readonly text?: string;
  /** The visitor who may be asked for a name; absent if the author is known. */
  readonly visitor?: Visitor;
  readonly submit: (draft: Draft) => Promise<void>;
  readonly cancel?: () => void;
}

// Source: commentCharsMax and commentNameCharsMax of protocol/core/limits.ts.
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
      required: true,
      dir: 'auto',
    });
    this.#field.value = text;
    atMost(this.#field, CONTENT_CHARS_MAX);
    this.#name = atMost(h('input', { autocomplete: 'name', dir: 'auto' }), NAME_CHARS_MAX);
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

  /** Updates the name field after the visitor has signed in or out. */
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
    // Escape closes the form and not the whole panel.
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
