/** The form that verifies an e-mail address with a code. */
import type * as api from '../page/api.ts';
import { NAME_CHARS_MAX } from './composer.ts';
import { button, h } from './element.ts';
import { TEXT } from './strings.ts';
import { atMost, busy, messageOf } from './ui.ts';

export interface SignInOptions {
  readonly guest: api.Comments['guest'];
  readonly name: string;
  readonly done: () => Promise<void>;
  readonly leave: () => void;
}

export class SignIn {
  readonly element = h('section', { class: 'sign-in', 'aria-label': TEXT.signIn });
  readonly #options: SignInOptions;
  readonly #problem = h('p', { class: 'problem', role: 'alert' });
  readonly #email = h('input', { type: 'email', autocomplete: 'email', required: true, maxlength: 254 });
  readonly #name = atMost(h('input', { autocomplete: 'name', required: true }), NAME_CHARS_MAX);
  readonly #code = h('input', { inputmode: 'numeric', autocomplete: 'one-time-code', pattern: '[0-9]{6}', maxlength: 6, required: true });

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#name.value = options.name;
    this.#ask();
  }

  focus(): void {
    this.element.querySelector('input')?.focus();
  }

  #ask(): void {
    this.#show(
      TEXT.guestsWhy,
      [h('label', {}, TEXT.email, this.#email), h('label', {}, TEXT.yourName, this.#name)],
      TEXT.sendCode,
      async () => {
        await this.#options.guest.start({ email: this.#email.value.trim(), name: this.#name.value.trim() });
        this.#check();
      },
    );
  }

  #check(): void {
    const other = button(TEXT.otherEmail, () => this.#ask(), { class: 'plain' });
    this.#show(
      TEXT.codeSent(this.#email.value.trim()),
      [h('label', {}, TEXT.code, this.#code)],
      TEXT.verify,
      async () => {
        await this.#options.guest.verify({ email: this.#email.value.trim(), code: this.#code.value.trim() });
        await this.#options.done();
      },
      other,
    );
  }

  #show(text: string, fields: readonly HTMLElement[], action: string, run: () => Promise<void>, more?: HTMLElement): void {
    const send = h('button', { type: 'submit', class: 'main' }, action);
    const submit = (event: Event) => {
      event.preventDefault();
      this.#problem.textContent = '';
      const wrong = [...form.querySelectorAll('input')].find((input) => !input.checkValidity());
      if (wrong !== undefined) {
        this.#problem.textContent = wrong.validationMessage;
        wrong.focus();
        return;
      }
      void busy(send, run, (error) => {
        this.#problem.textContent = messageOf(error);
      });
    };
    const form = h(
      'form',
      { class: 'composer', novalidate: true, submit },
      h('p', { role: 'status' }, text),
      ...fields,
      this.#problem,
      h('div', { class: 'row end' }, more, button(TEXT.back, this.#options.leave, { class: 'plain' }), send),
    );
    this.#problem.textContent = '';
    this.element.replaceChildren(form);
    if (this.element.isConnected) this.focus();
  }
}
