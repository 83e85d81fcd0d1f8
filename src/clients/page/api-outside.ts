/** The SDK's public types that its parts share, and those of what reaches beyond the artifact. The build serves them in /sdk.d.ts, before those of `api.ts`. */
import type { AgentAnswer, OwnerNotified, PageChatMessage, PageChatPage, PageChatSettings } from './wire.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** `{ field: value }`, or operators: `{ points: { $gte: 10 } }`, `{ $or: [...] }`. */
export type Filter = { readonly [field: string]: unknown };

/** Ends a watch. */
export type Stop = () => void;

/** `text` or `html`; of visitors who are not signed in only the text of the HTML is sent. */
export interface OwnerMessage {
  readonly subject?: string | undefined;
  readonly text?: string | undefined;
  readonly html?: string | undefined;
  /** The address of who writes, so that the owner can answer. */
  readonly replyTo?: string | undefined;
}

export interface AgentOptions extends CallOptions {
  /** What was said before, oldest first. Passages are also looked for with the last question of the user in it. */
  readonly history?: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[] | undefined;
  /** Called with all of the text so far whenever there is more of it. Show it as text: it comes from a model. */
  readonly onText?: ((text: string) => void) | undefined;
}

export interface Agent {
  /**
   * Answers a question from this artifact alone: its page, tables, datasets and documents. Visitors may ask where the owner lets them
   * (`allow_anon_agent`). The answer that it resolves with replaces the text so far.
   */
  ask(question: string, options?: AgentOptions): Promise<AgentAnswer>;
}

export interface ChatOptions extends CallOptions {
  /** How the visitor wants to be called. */
  readonly name?: string | undefined;
  /** What the visitor says is their address; nobody has proved it. */
  readonly email?: string | undefined;
}

/**
 * The chat of a page with its makers, where its owner has turned it on. The browser of a visitor keeps the secret with which it reads the
 * answers. Show texts as text: they come from people.
 */
export interface Chat {
  /** Whether the chat is on, and what it says before the first message. */
  settings(options?: CallOptions): Promise<PageChatSettings>;
  /**
   * Writes a message. Before the first one the browser of a visitor who is not signed in works for some tenths of a second, without holding up
   * the page. Throws an EaselError, SUPPORT_CHAT_OFF where the chat is off.
   */
  write(text: string, options?: ChatOptions): Promise<{ readonly status: PageChatPage['status']; readonly message: PageChatMessage }>;
  /** The messages, the oldest first; with `after`, the id of a message, those behind it. Empty where the visitor has written nothing yet. */
  read(options?: CallOptions & { readonly after?: string | undefined }): Promise<PageChatPage>;
}

export interface Outside {
  /** The visitor's chat with the makers of the page. */
  readonly chat: Chat;
  /** The page's own agent. */
  readonly agent: Agent;
  /**
   * Reads another host with GET, where the artifact's proxy settings allow it: `const weather = await (await easel.proxy(url)).json()`. Resolves
   * with that host's answer, whatever its status. Throws an EaselError where there is none, for example HOST_NOT_ALLOWED or PROXY_ERROR.
   */
  proxy(url: string | URL, options?: CallOptions): Promise<Response>;
  /**
   * Sends a message to the owner of the page. From visitors who are not signed in where the owner allows it (`allow_anon_email`); their browser
   * then works for some tenths of a second first, without holding up the page.
   */
  notifyOwner(message: string | OwnerMessage, options?: CallOptions): Promise<OwnerNotified>;
}
