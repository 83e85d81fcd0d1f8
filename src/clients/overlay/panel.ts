/** The panel with all threads and the form for a new one. */
import { signInPath } from '../page/browser.ts';
import { Composer } from './composer.ts';
import type { Thread } from './conversation.ts';
import { arrange, button, focused, h, icon, refill } from './element.ts';
import type { Passage } from './page-text.ts';
import { TEXT } from './strings.ts';
import { type Place, ThreadView } from './thread-view.ts';
import type { Draft, Ui } from './ui.ts';

export interface PanelView {
  readonly threads: readonly { readonly thread: Thread; readonly place: Place }[];
  readonly state: 'loading' | 'ready' | 'offline' | 'refused';
  readonly isFresh: (id: string) => boolean;
}

export interface PanelDeps {
  readonly ui: Ui;
  readonly create: (draft: Draft, passage: Passage | undefined) => Promise<void>;
  readonly signOut: () => void;
  readonly close: () => void;
  /** Reports the passage that is being commented on, so that the page marks it. */
  readonly composing: (passage: Passage | undefined) => void;
}

const CROSS = 'M6 6l12 12M18 6 6 18';
const SECTIONS = ['here', 'lost', 'elsewhere', 'resolved'] as const satisfies readonly Place['section'][];
const FOCUSABLE = 'button,a[href],input,textarea,summary';

/** Threads shown per section at first, and added by each click on "Show more". */
const SHOWN_STEP = 50;

interface Section {
  readonly element: HTMLElement;
  readonly list: HTMLUListElement;
  readonly count: HTMLElement;
  readonly more: HTMLButtonElement;
  shown: number;
}

export class Panel {
  readonly element: HTMLElement;
  readonly #deps: PanelDeps;
  readonly #title = h('h2', { tabindex: -1, id: 'title' }, TEXT.title);
  readonly #note = h('p', { class: 'note', role: 'status' });
  readonly #new = h('div', { class: 'new' });
  readonly #body = h('div', { class: 'body' });
  readonly #foot = h('div', { class: 'footer' });
  readonly #sections = new Map<Place['section'], Section>();
  readonly #views = new Map<string, ThreadView>();
  #view: PanelView | undefined;
  #composer: { readonly part: Composer; readonly passage: Passage | undefined } | undefined;

  constructor(deps: PanelDeps) {
    this.#deps = deps;
    for (const name of SECTIONS) this.#sections.set(name, sectionOf(name));
    const sections = [...this.#sections.values()].map(({ element }) => element);
    this.#body.append(this.#note, this.#new, ...sections, shortcuts());
    const cross = button('', deps.close, { class: 'plain close', 'aria-label': TEXT.close }, icon(CROSS));
    this.element = h(
      'div',
      { class: 'panel', role: 'dialog', 'aria-labelledby': 'title', id: 'panel', hidden: true },
      h('div', { class: 'header' }, this.#title, cross),
      this.#body,
      this.#foot,
    );
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  /** True if a form contains text that would be lost. */
  get isWriting(): boolean {
    return this.#composer !== undefined && !this.#composer.part.isEmpty;
  }

  update(view: PanelView): void {
    this.#view = view;
    const { threads, state } = view;
    const { visitor } = this.#deps.ui;
    for (const name of SECTIONS) this.#drawSection(name);
    const known = new Set(threads.map(({ thread }) => thread.root.id));
    for (const id of this.#views.keys()) if (!known.has(id)) this.#views.delete(id);
    const empty = visitor.mayWrite ? TEXT.empty : TEXT.emptyReader;
    this.#tell({ loading: TEXT.loading, offline: TEXT.offline, refused: TEXT.refused, ready: threads.length === 0 ? empty : '' }[state]);
    this.#drawNew();
    this.#drawFoot();
  }

  /** Opens the form for a new thread, or continues with the one that is open. */
  compose(passage: Passage | undefined): void {
    if (!this.isWriting || passage !== undefined) {
      const text = this.isWriting ? this.#composer?.part.content : undefined;
      this.#composer = { part: this.#composerFor(passage, text), passage };
      this.#deps.composing(passage);
      this.#drawNew();
    }
    this.#composer?.part.focus();
  }

  /** Shows an element instead of the threads; undefined shows the threads again. */
  showInstead(element: HTMLElement | undefined): void {
    this.element.children[1]?.replaceWith(element ?? this.#body);
    this.#foot.hidden = element !== undefined;
  }

  focus(): void {
    this.#title.focus();
  }

  focusThread(id: string): void {
    const place = this.#view?.threads.find(({ thread }) => thread.root.id === id)?.place;
    const section = place && this.#sections.get(place.section);
    if (place !== undefined && section !== undefined && !this.#views.get(id)?.element.parentElement) {
      section.shown = this.#of(place.section).findIndex(({ thread }) => thread.root.id === id) + 1;
      this.#drawSection(place.section);
    }
    const element = this.#views.get(id)?.element;
    if (element === undefined) return;
    const details = element.closest('details');
    if (details !== null) details.open = true;
    element.scrollIntoView({ block: 'nearest' });
    element.focus();
  }

  /** Keeps the focus in the panel while the panel covers the page. */
  trap(event: KeyboardEvent): void {
    const all = [...this.element.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((one) => one.getClientRects().length > 0);
    const [first, last] = [all[0], all.at(-1)];
    const held = focused(this.element);
    const isAtEnd = event.shiftKey ? held === first || held === this.#title : held === last;
    if (!isAtEnd) return;
    event.preventDefault();
    (event.shiftKey ? last : first)?.focus();
  }

  #of(section: Place['section']): PanelView['threads'] {
    return this.#view?.threads.filter(({ place }) => place.section === section) ?? [];
  }

  #drawSection(name: Place['section']): void {
    const section = this.#sections.get(name);
    if (section === undefined) return;
    const all = this.#of(name);
    const shown = all.slice(0, section.shown).map(({ thread, place }) => {
      const view = this.#views.get(thread.root.id) ?? new ThreadView(this.#deps.ui, thread);
      this.#views.set(thread.root.id, view);
      view.update(thread, place, this.#view?.isFresh ?? (() => false));
      return view.element;
    });
    arrange(section.list, shown);
    section.count.textContent = String(all.length);
    section.element.hidden = all.length === 0;
    const left = Math.min(all.length - shown.length, SHOWN_STEP);
    section.more.hidden = left <= 0;
    section.more.textContent = TEXT.more(left);
    section.more.onclick = () => {
      section.shown += SHOWN_STEP;
      this.#drawSection(name);
      // The button may have been removed.
      shown.at(-1)?.focus();
    };
  }

  #composerFor(passage: Passage | undefined, text: string | undefined): Composer {
    return new Composer({
      label: passage === undefined ? TEXT.onPage : TEXT.onSelection,
      action: TEXT.send,
      ...(text !== undefined && { text }),
      visitor: this.#deps.ui.visitor,
      submit: async (draft) => {
        await this.#deps.create(draft, passage);
        this.#leaveComposer();
      },
      cancel: () => this.#leaveComposer(),
    });
  }

  #leaveComposer(): void {
    const hadFocus = this.#new.contains(focused(this.#new));
    this.#composer = undefined;
    this.#deps.composing(undefined);
    this.#new.replaceChildren();
    this.#drawNew();
    if (hadFocus) this.#new.querySelector('button')?.focus();
  }

  #drawNew(): void {
    const { ui } = this.#deps;
    const { visitor } = ui;
    if (this.#composer !== undefined && visitor.mayWrite) {
      const { part, passage } = this.#composer;
      part.update();
      if (part.element.parentElement === this.#new) return;
      const quote = passage !== undefined && h('blockquote', { class: 'quote', dir: 'auto' }, passage.quote.exact);
      this.#new.replaceChildren(...(quote === false ? [] : [quote]), part.element);
      return;
    }
    if (visitor.mayWrite)
      refill(
        this.#new,
        button(TEXT.onPage, () => this.compose(undefined), { class: 'wide', 'data-key': 'new' }),
      );
    else if (visitor.mayProve) {
      refill(
        this.#new,
        h('p', {}, TEXT.guestsMay),
        button(TEXT.signIn, () => ui.signIn(), { class: 'main', 'data-key': 'new' }),
        h('p', {}, accountLink()),
      );
    } else refill(this.#new, h('p', {}, TEXT.accountsOnly), h('p', {}, accountLink()));
  }

  #drawFoot(): void {
    const { ui, signOut } = this.#deps;
    const { visitor } = ui;
    this.#foot.hidden = !visitor.isKnown && !(visitor.mayProve && visitor.mayWrite);
    const leave = () => button(TEXT.signOut, signOut, { class: 'plain', 'data-key': 'who' });
    // Who is signed in signs out where they have signed in, for all pages at once.
    if (visitor.isKnown) refill(this.#foot, TEXT.signedInAs(visitor.name), visitor.isGuest && leave());
    else if (!this.#foot.hidden)
      refill(
        this.#foot,
        button(TEXT.signIn, () => ui.signIn(), { class: 'plain', 'data-key': 'who' }),
      );
  }

  /** Changes the text only if it differs, so that screen readers do not announce it again. */
  #tell(text: string): void {
    if (this.#note.textContent !== text) this.#note.textContent = text;
    this.#note.hidden = text === '';
  }
}

function sectionOf(name: Place['section']): Section {
  const isFolded = name === 'resolved';
  const count = h('span', { class: 'count' });
  const list = h('ul', { role: 'list', 'aria-label': TEXT.sections[name] });
  const more = h('button', { type: 'button', class: 'plain' });
  const title = h(isFolded ? 'summary' : 'h3', {}, TEXT.sections[name], ' ', count);
  return { element: h(isFolded ? 'details' : 'section', { class: 'section' }, title, list, more), list, count, more, shown: SHOWN_STEP };
}

/** Leads to the sign-in of the service and back to this page. */
function accountLink(): HTMLElement {
  return h('a', { href: signInPath(), 'data-key': 'account' }, TEXT.accountSignIn);
}

function shortcuts(): HTMLElement {
  const keys = TEXT.shortcuts.flatMap(([key, what]) => [h('dt', {}, key), h('dd', {}, what)]);
  return h('details', { class: 'keys' }, h('summary', {}, TEXT.keys), h('dl', {}, ...keys));
}
