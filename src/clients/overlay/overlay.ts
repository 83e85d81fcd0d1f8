/** Connects the comments of a page with the panel, the marks on the page and the visitor's actions. */
import type * as api from '../page/api.ts';
import type { CommentsSurroundings } from '../page/browser.ts';
import type { Comment } from '../page/wire.ts';
import { Anchors } from './anchors.ts';
import { Conversation, type Thread } from './conversation.ts';
import { button, focused, h, icon } from './element.ts';
import { Host } from './host.ts';
import { liveComments } from './live.ts';
import { type Marks, marksOf } from './marks.ts';
import type { Passage } from './page-text.ts';
import { Panel } from './panel.ts';
import { BUBBLE, Picker } from './picker.ts';
import { addressOf, isOnPage } from './places.ts';
import { SignIn } from './sign-in.ts';
import { TEXT } from './strings.ts';
import { STYLE } from './style.ts';
import type { Place } from './thread-view.ts';
import { type Draft, messageOf, nameOf, type Ui } from './ui.ts';
import { type OverlaySite, Visitor } from './visitor.ts';

export const HOST_NAME = 'easel-comments';

const TOAST_MS = 6000;
/** Interval at which comments are read if no WebSocket can be opened. */
const POLL_MS = 60_000;
const LIST_MAX = 100;
/** Fragment of an address that opens a comment. */
const HASH = '#comment-';
const OPERABLE = 'a,button,input,select,textarea,label,summary,[role=button],[onclick]';

export class Overlay implements Ui {
  readonly visitor: Visitor;
  readonly #site: OverlaySite;
  readonly #around: CommentsSurroundings;
  readonly #comments: api.Comments;
  readonly #conversation = new Conversation();
  readonly #host = new Host(HOST_NAME, STYLE);
  readonly #anchors = new Anchors(() => this.#drawSoon());
  readonly #marks: Marks;
  readonly #panel: Panel;
  readonly #picker: Picker;
  readonly #badge = h('b', { 'aria-hidden': 'true', hidden: true });
  readonly #launcher: HTMLButtonElement;
  readonly #backdrop = h('div', { class: 'backdrop', hidden: true, click: () => this.#close() });
  readonly #status = h('p', { class: 'sr', role: 'status' });
  readonly #toast = h('p', { class: 'toast', role: 'alert', hidden: true });
  readonly #narrow = matchMedia('(max-width:640px)');
  #toastTimer: ReturnType<typeof setTimeout> | undefined;
  #state: 'loading' | 'ready' | 'refused' = 'loading';
  #isOffline = false;
  #isPolling = false;
  #isDrawing = false;
  /** Comments written after this time were unread when the panel was opened. */
  #freshAfter = '';
  #current: string | undefined;
  #composing: Passage | undefined;
  /** The element of the page that gets the focus back. */
  #pageFocus: HTMLElement | undefined;

  constructor(site: OverlaySite, around: CommentsSurroundings) {
    this.#site = site;
    this.#around = around;
    const { comments, guest } = liveComments(site, around, (state) => this.#became(state));
    this.#comments = comments;
    this.visitor = new Visitor({ site, keeper: around, guest, comments });
    const layer = h('div', { class: 'layer', 'aria-hidden': 'true' });
    this.#marks = marksOf(layer);
    this.#panel = new Panel({
      ui: this,
      create: (draft, passage) => this.#create(draft, passage),
      signOut: () => this.#signOut(),
      close: () => this.#close(),
      composing: (passage) => this.#composeOn(passage),
    });
    this.#picker = new Picker({
      anchors: this.#anchors,
      isWanted: () => this.#state !== 'refused' && (this.visitor.mayWrite || this.visitor.mayProve),
      pick: () => this.#commentSelection(),
    });
    const opens = { class: 'launcher', 'aria-haspopup': 'dialog', 'aria-controls': 'panel', 'aria-expanded': 'false' };
    this.#launcher = button('', () => this.#open(), opens, icon(BUBBLE), this.#badge);
    this.#host.all.append(layer, this.#launcher, this.#picker.element, this.#backdrop, this.#panel.element, this.#toast, this.#status);
  }

  mount(): void {
    this.#draw();
    this.#host.mount();
    this.#host.root.addEventListener('keydown', (event) => this.#key(event as KeyboardEvent));
    document.addEventListener('keydown', (event) => this.#host.contains(event.target) || this.#key(event));
    document.addEventListener('click', (event) => this.#click(event));
    document.addEventListener('visibilitychange', () => this.#draw());
    this.#narrow.addEventListener('change', () => this.#draw());
    this.#comments.watch((change) => this.#told(change));
    // If this fails, the visitor is treated as anonymous.
    void this.visitor.recognize().then(
      () => this.#draw(),
      (error) => this.fail(error),
    );
  }

  async reply({ id }: Comment, draft: Draft): Promise<void> {
    this.#wrote(await this.#comments.reply(id, draft));
  }

  async edit({ id }: Comment, content: string): Promise<void> {
    this.#done(await this.#comments.edit(id, content), TEXT.said.saved);
  }

  async remove({ id }: Comment): Promise<void> {
    await this.#comments.delete(id);
    this.#conversation.delete(id);
    this.say(TEXT.said.deleted);
    this.#draw();
    this.#panel.focus();
  }

  async resolve({ id }: Comment, resolved: boolean): Promise<void> {
    this.#done(await this.#comments.resolve(id, resolved), resolved ? TEXT.said.resolved : TEXT.said.reopened);
    // The thread has moved to another section, and the focus with it.
    this.#panel.focus();
  }

  async react({ id }: Comment, emoji: string): Promise<void> {
    this.#done(await this.#comments.react(id, emoji), undefined);
  }

  show({ id }: Comment): boolean {
    const range = this.#anchors.range(id);
    const element = range?.startContainer.parentElement;
    if (range === undefined || !element || range.getClientRects().length === 0) return false;
    this.#current = id;
    if (this.#isModal) this.#close();
    const isCalm = matchMedia('(prefers-reduced-motion:reduce)').matches;
    element.scrollIntoView({ block: 'center', behavior: isCalm ? 'auto' : 'smooth' });
    this.#draw();
    return true;
  }

  signIn(): void {
    const leave = () => {
      this.#panel.showInstead(undefined);
      this.#draw();
      this.#panel.focus();
    };
    const form = new SignIn({
      guest: this.#comments.guest,
      name: this.visitor.name,
      leave,
      done: async () => {
        await this.visitor.recognize();
        leave();
        this.say(TEXT.said.signedIn);
        if (this.#composing !== undefined) this.#panel.compose(this.#composing);
      },
    });
    this.#panel.showInstead(form.element);
    form.focus();
  }

  say(text: string): void {
    // A live region announces only changes, so a repeated text gets an invisible difference.
    this.#status.textContent = this.#status.textContent === text ? `${text}\u00a0` : text;
  }

  fail(error: unknown): void {
    this.#toast.hidden = false;
    this.#toast.textContent = messageOf(error);
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(() => {
      this.#toast.hidden = true;
    }, TOAST_MS);
    // The error may have ended the guest's sign-in.
    this.#draw();
  }

  async #create(draft: Draft, passage: Passage | undefined): Promise<void> {
    const { page: contextId, versionId } = this.#site;
    this.#wrote(await this.#comments.create({ ...draft, ...passage, contextId, versionId }));
  }

  #wrote(comment: Comment): void {
    this.visitor.wrote(comment);
    this.#done(comment, TEXT.said.sent);
  }

  #done(comment: Comment, said: string | undefined): void {
    this.#conversation.put(comment);
    if (said !== undefined) this.say(said);
    this.#draw();
  }

  #signOut(): void {
    this.visitor.leave();
    this.#draw();
    this.#panel.focus();
  }

  #told(change: api.CommentChange): void {
    if (change.type === 'refused') this.#state = 'refused';
    else {
      const isFirst = this.#state !== 'ready';
      this.#state = 'ready';
      this.#conversation.take(change);
      if (change.type === 'put' && change.kind === 'added' && !this.visitor.isMine(change.comment))
        this.say(TEXT.said.newBy(nameOf(change.comment)));
      if (isFirst) queueMicrotask(() => this.#openAddressed());
    }
    this.#drawSoon();
  }

  #became(state: api.ConnectionState): void {
    this.#isOffline = state === 'offline';
    if (this.#isOffline && !this.#isPolling) void this.#poll();
    this.#draw();
  }

  /** Polls while the network does not let WebSockets through. */
  async #poll(): Promise<void> {
    this.#isPolling = true;
    while (this.#isOffline) {
      try {
        for (let cursor: string | undefined; ; ) {
          const page = await this.#comments.list({ limit: LIST_MAX, cursor });
          for (const comment of page.comments) this.#conversation.put(comment);
          this.#state = 'ready';
          this.#draw();
          if (page.nextCursor === null) break;
          cursor = page.nextCursor;
        }
      } catch (error) {
        if (this.#state === 'loading') this.fail(error);
      }
      await this.#around.wait(POLL_MS);
    }
    this.#isPolling = false;
  }

  /** Shows the comment that the address names. */
  #openAddressed(): void {
    const id = location.hash.startsWith(HASH) ? location.hash.slice(HASH.length) : '';
    const thread = this.#conversation.threads().find(({ root, replies }) => [root, ...replies].some((comment) => comment.id === id));
    if (thread === undefined) return;
    this.#open();
    this.show(thread.root);
    this.#panel.focusThread(thread.root.id);
  }

  get #isModal(): boolean {
    return this.#narrow.matches;
  }

  #open(): void {
    if (this.#panel.isOpen) return;
    const { activeElement } = document;
    const isPage = activeElement instanceof HTMLElement && activeElement !== document.body && !this.#host.contains(activeElement);
    this.#pageFocus = isPage ? activeElement : undefined;
    this.#freshAfter = this.visitor.readUntil;
    this.#panel.element.hidden = false;
    this.#draw();
    this.#panel.focus();
  }

  #close(): void {
    this.#panel.element.hidden = true;
    this.#panel.showInstead(undefined);
    // The visitor closed the panel before signing in: the passage is dropped.
    if (!this.visitor.mayWrite) this.#composing = undefined;
    this.#draw();
    (this.#pageFocus?.isConnected ? this.#pageFocus : this.#launcher).focus();
  }

  #composeOn(passage: Passage | undefined): void {
    this.#composing = passage;
    this.#draw();
  }

  #commentSelection(): void {
    const picked = this.#picker.picked();
    if (picked === undefined) return;
    this.#picker.element.hidden = true;
    this.#open();
    this.#composing = picked.passage;
    if (this.visitor.mayWrite) this.#panel.compose(picked.passage);
    else if (this.visitor.mayProve) this.signIn();
    this.#draw();
  }

  #key(event: KeyboardEvent): void {
    const { key, code, altKey, shiftKey, ctrlKey, metaKey } = event;
    if (key === 'Tab' && this.#panel.isOpen && this.#isModal) this.#panel.trap(event);
    // Parts of the panel that use Escape have stopped the event.
    if (key === 'Escape' && this.#isWithin()) this.#close();
    // `code` and not `key`: with Alt many keyboard layouts produce another character.
    if (!altKey || !shiftKey || ctrlKey || metaKey) return;
    if (code !== 'KeyC' && code !== 'KeyJ') return;
    event.preventDefault();
    if (code === 'KeyJ') this.#jump();
    else if (this.#isWithin() || this.#picker.picked() === undefined) this.#panel.isOpen ? this.#close() : this.#open();
    else this.#commentSelection();
  }

  #isWithin(): boolean {
    return focused(this.#panel.element) !== null;
  }

  #jump(): void {
    if (!this.#isWithin()) {
      if (!this.#panel.isOpen) this.#open();
      else if (this.#current !== undefined) this.#panel.focusThread(this.#current);
      else this.#panel.focus();
    } else if (this.#pageFocus?.isConnected) this.#pageFocus.focus();
    else {
      focused(this.#panel.element)?.blur();
      // The next Tab continues from the passage.
      const range = this.#current === undefined ? undefined : this.#anchors.range(this.#current);
      if (range !== undefined) document.getSelection()?.collapse(range.startContainer, range.startOffset);
    }
  }

  #click({ target, clientX, clientY }: MouseEvent): void {
    if (!(target instanceof Element) || target.closest(OPERABLE) !== null || document.getSelection()?.isCollapsed === false) return;
    const id = this.#anchors.at(clientX, clientY);
    if (id === undefined) return;
    this.#current = id;
    this.#open();
    this.#draw();
    this.#panel.focusThread(id);
  }

  #placeOf({ root }: Thread): Place {
    const isFound = this.#anchors.range(root.id) !== undefined;
    const known = { isFound, isCurrent: root.id === this.#current, page: addressOf(root, HASH) };
    if (root.resolved) return { ...known, section: 'resolved' };
    if (!isOnPage(root.contextId, this.#site.page)) return { ...known, section: 'elsewhere' };
    return { ...known, section: root.outdated && !isFound ? 'lost' : 'here' };
  }

  /** Draws at most once per frame. */
  #drawSoon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  #draw(): void {
    const threads = this.#conversation.threads();
    const here = threads.filter(({ root }) => isOnPage(root.contextId, this.#site.page));
    this.#anchors.watch(here.map(({ root }) => root));
    const isOpen = this.#panel.isOpen;
    const isModal = isOpen && this.#isModal;
    if (isOpen && !document.hidden) this.visitor.read(this.#conversation.all());
    const placed = threads.map((thread) => ({ thread, place: this.#placeOf(thread) }));
    placed.sort((one, other) => this.#inOrder(one.thread, other.thread));
    const isFresh = (id: string) => {
      const comment = this.#conversation.get(id);
      return comment !== undefined && comment.createdAt > this.#freshAfter && !this.visitor.isMine(comment);
    };
    const state = this.#state === 'ready' && this.#isOffline ? 'offline' : this.#state;
    if (isOpen) this.#panel.update({ threads: placed, state, isFresh });
    this.#panel.element.setAttribute('aria-modal', String(isModal));
    this.#backdrop.hidden = !isModal;
    this.#drawLauncher(isOpen);
    this.#drawMarks(here);
  }

  #drawLauncher(isOpen: boolean): void {
    const unread = [...this.#conversation.all()].filter((comment) => this.visitor.isUnread(comment)).length;
    this.#launcher.hidden = isOpen;
    this.#launcher.setAttribute('aria-label', TEXT.launcher(unread));
    this.#badge.textContent = unread > 99 ? '99+' : String(unread);
    this.#badge.hidden = unread === 0;
  }

  #drawMarks(here: readonly Thread[]): void {
    const open = here.flatMap(({ root }) => (root.resolved ? [] : (this.#anchors.range(root.id) ?? [])));
    const composed = this.#composing && this.#anchors.find(this.#composing);
    this.#marks.paint(open, composed ?? (this.#current === undefined ? undefined : this.#anchors.range(this.#current)));
  }

  /** Threads in the order of their passages on the page, then those without one, oldest first. */
  #inOrder({ root: one }: Thread, { root: other }: Thread): number {
    const [first, second] = [this.#anchors.range(one.id), this.#anchors.range(other.id)];
    if (first !== undefined && second !== undefined) return first.compareBoundaryPoints(Range.START_TO_START, second);
    if (first === undefined && second === undefined) return one.createdAt < other.createdAt ? -1 : 1;
    return first === undefined ? 1 : -1;
  }
}
