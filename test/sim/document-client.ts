/** Edits a document over a connection that breaks, from a page that is sometimes closed and opened again. */
import * as Y from 'yjs';
import type { LiveDocument } from '../../actors/documents/live-document.ts';
import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { Random } from '../support/random.ts';

/** What the server has acknowledged: saved words, and saved deletions. */
export class Promised {
  readonly written = new Set<string>();
  readonly deleted = new Set<string>();
  /** Deletions that were started, with any outcome. */
  readonly doomed = new Set<string>();
}

interface Session {
  readonly runtime: ActorRuntime;
  readonly live: LiveDocument;
  readonly stop: () => void;
}

interface Words {
  readonly written: readonly string[];
  readonly deleted: readonly string[];
}

export class DocumentClient {
  readonly #id: ArtifactId;
  readonly #name: string;
  readonly #random: Random;
  readonly #promised: Promised;
  readonly #nextWord: () => string;
  #doc = new Y.Doc();
  /** Edits of this copy that are not acknowledged yet; the next synchronisation acknowledges all of them. */
  #open: { written: string[]; deleted: string[] } = { written: [], deleted: [] };
  #session: Session | undefined;

  constructor(deps: { id: ArtifactId; name: string; random: Random; promised: Promised; nextWord: () => string }) {
    this.#id = deps.id;
    this.#name = deps.name;
    this.#random = deps.random;
    this.#promised = deps.promised;
    this.#nextWord = deps.nextWord;
    this.#doc.clientID = this.#random.integer(2 ** 31);
  }

  get words(): readonly string[] {
    return this.#words().toArray();
  }

  get isConnected(): boolean {
    return this.#session !== undefined;
  }

  /** Exchanges what either side lacks. False when the server refused. */
  async connect(runtime: ActorRuntime): Promise<boolean> {
    this.disconnect();
    try {
      const { live, stop } = await runtime.ask(
        this.#id,
        ({ documents }) => this.#join(documents.open(this.#name)),
        ({ documents }) => documents.prepare(this.#name),
      );
      if (live.isOver) return false;
      this.#session = { runtime, live, stop };
      const open = this.#open;
      this.#open = { written: [], deleted: [] };
      return await this.#send(Y.encodeStateAsUpdate(this.#doc, live.stateVector()), open);
    } catch (error) {
      this.#break(error);
      return false;
    }
  }

  disconnect(): void {
    this.#session?.stop();
    this.#session = undefined;
  }

  /** Closes the page and opens it again; unsaved edits are lost. */
  forget(): void {
    this.disconnect();
    this.#doc = new Y.Doc();
    this.#doc.clientID = this.#random.integer(2 ** 31);
    this.#open = { written: [], deleted: [] };
  }

  /** Writes a word or deletes one, and sends it where there is a connection. */
  async edit(): Promise<void> {
    const words = this.#words();
    const before = Y.encodeStateVector(this.#doc);
    const made: { written: string[]; deleted: string[] } = { written: [], deleted: [] };
    if (words.length > 3 && this.#random.chance(0.3)) {
      const at = this.#random.integer(words.length);
      made.deleted.push(words.get(at));
      this.#promised.doomed.add(words.get(at));
      words.delete(at);
    } else {
      const word = this.#nextWord();
      made.written.push(word);
      words.insert(this.#random.integer(words.length + 1), [word]);
    }
    if (this.#session === undefined) this.#keep(made);
    else await this.#send(Y.encodeStateAsUpdate(this.#doc, before), made);
  }

  #words(): Y.Array<string> {
    return this.#doc.getArray<string>('words');
  }

  /** Within a turn. */
  #join(live: LiveDocument): { live: LiveDocument; stop: () => void } {
    const stop = live.listen({
      updated: (update, origin) => {
        if (origin !== this) Y.applyUpdate(this.#doc, update);
      },
      over: () => {
        this.#session = undefined;
      },
    });
    Y.applyUpdate(this.#doc, live.missing(Y.encodeStateVector(this.#doc)));
    return { live, stop };
  }

  async #send(update: Uint8Array, words: Words): Promise<boolean> {
    const session = this.#session;
    const doc = this.#doc;
    if (session === undefined) return false;
    try {
      await session.runtime.askPatiently(this.#id, () => session.live.apply(update, null, this));
      for (const word of words.written) this.#promised.written.add(word);
      for (const word of words.deleted) this.#promised.deleted.add(word);
      return true;
    } catch (error) {
      // The edit stays in the copy, and the next synchronisation sends it again.
      if (this.#doc === doc) this.#keep(words);
      this.#break(error);
      return false;
    }
  }

  #keep({ written, deleted }: Words): void {
    this.#open.written.push(...written);
    this.#open.deleted.push(...deleted);
  }

  #break(error: unknown): void {
    this.disconnect();
    if (!(error instanceof Failure) || (error.code !== 'UNAVAILABLE' && error.code !== 'OWNER_MOVED')) throw error;
  }
}
