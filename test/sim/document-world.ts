/** A world of one seed in which clients edit documents while faults are injected. */
import * as Y from 'yjs';
import type { DocumentUpkeep } from '../../actors/documents/changes.ts';
import { localPlacement } from '../../actors/runtime/placement.ts';
import type { Placement } from '../../actors/runtime/ports.ts';
import { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { Random } from '../support/random.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { DocumentClient, Promised } from './document-client.ts';
import { DocumentStore, slowUpkeep } from './document-store.ts';
import { FaultyStore } from './faulty-store.ts';
import { COMMIT_PART, SILENT, UNMETERED } from './world.ts';

const NODES = 2;
const NAMES = ['notes', 'board'];
const CLIENTS = 6;
const STEPS_EACH = 25;
const IDLE_MS = 400;

export interface DocumentWorldOptions {
  readonly faults: number;
  readonly lies?: boolean;
  readonly checksEpochs?: boolean;
}

export class DocumentWorld {
  readonly clock = new SteppedClock();
  readonly store = new DocumentStore();
  readonly id: ArtifactId = newId('artifact');
  readonly nodes: readonly ActorRuntime[];
  readonly promised: ReadonlyMap<string, Promised> = new Map(NAMES.map((name) => [name, new Promised()]));
  readonly broken: string[] = [];
  readonly #random: Random;
  readonly #faulty: FaultyStore;
  readonly #upkeep: DocumentUpkeep;
  readonly #clients: readonly (readonly [name: string, client: DocumentClient])[];
  #owner = 0;
  #lost: (() => void)[] = [];
  #words = 0;

  constructor(seed: number, options: DocumentWorldOptions) {
    this.#random = new Random(seed);
    this.#faulty = new FaultyStore(this.store, this.clock, this.#random, options.faults);
    this.#faulty.lies = options.lies ?? false;
    this.store.checksEpochs = options.checksEpochs ?? true;
    this.store.add(this.id);
    this.#upkeep = slowUpkeep(
      this.store,
      () => new Promise((resolve) => this.clock.after(this.#random.integer(50), resolve)),
      () => this.#random.chance(this.#faulty.faults),
    );
    this.nodes = Array.from({ length: NODES }, (_, node) => this.#node(node));
    this.#clients = Array.from({ length: CLIENTS }, (_, index) => {
      const name = NAMES[index % NAMES.length] as string;
      const promised = this.promised.get(name) as Promised;
      const nextWord = () => `word${++this.#words}`;
      return [name, new DocumentClient({ id: this.id, name, random: this.#random, promised, nextWord })] as const;
    });
  }

  /** Lets all clients edit, checks what is stored, and then synchronises everybody without faults. */
  async run(): Promise<void> {
    await this.#until(Promise.all(this.#clients.map(([, client]) => this.#live(client))));
    this.#faulty.faults = 0;
    this.#faulty.lies = false;
    // Commits in flight land or fail first. The check uses the store alone, without what clients still hold.
    await this.clock.advance(20_000);
    for (const name of NAMES) this.#check(name, await this.#stored(name), 'what is stored');
    await this.#until(this.#meet());
    for (const [, client] of this.#clients) client.disconnect();
    await this.#until(Promise.all(this.nodes.map((node) => node.stop())));
    await this.clock.advance(60_000);
  }

  async #live(client: DocumentClient): Promise<void> {
    for (let step = 0; step < STEPS_EACH; step += 1) {
      await this.#pause();
      const dice = this.#random.next();
      if (dice < 0.02) this.#move(this.#random.integer(NODES));
      else if (dice < 0.04) await this.#ownerNode().discard(this.id);
      else if (dice < 0.06) this.store.of(this.id).epoch += 1;
      else if (dice < 0.08) client.disconnect();
      else if (dice < 0.11) client.forget();
      else if (dice < 0.12) await this.#sleep();
      // As a compaction on another node does.
      else if (dice < 0.14) await this.#upkeep.compact(this.id, this.#random.pick(NAMES));
      else if (!client.isConnected && this.#random.chance(0.5)) await client.connect(this.#ownerNode());
      else await client.edit();
    }
  }

  /** All clients leave until the documents have left memory. */
  async #sleep(): Promise<void> {
    for (const [, client] of this.#clients) client.disconnect();
    await new Promise<void>((resolve) => this.clock.after(IDLE_MS * 2, resolve));
  }

  /** Two rounds: after the first the server has everything, after the second every client has. */
  async #meet(): Promise<void> {
    for (let round = 0; round < 2; round += 1) {
      for (const [, client] of this.#clients) while (!(await client.connect(this.#ownerNode()))) await this.#pause();
    }
    for (const name of NAMES) {
      const stored = await this.#stored(name);
      this.#check(name, stored, 'what all have');
      for (const [of, client] of this.#clients) {
        if (of === name && JSON.stringify(client.words) !== JSON.stringify(stored))
          this.broken.push(`${name}: a client has something else`);
      }
    }
  }

  #check(name: string, words: readonly string[], where: string): void {
    const promised = this.promised.get(name) as Promised;
    const there = new Set(words);
    if (there.size !== words.length) this.broken.push(`${name}: a word is doubled in ${where}`);
    for (const word of promised.written) {
      if (!there.has(word) && !promised.doomed.has(word)) this.broken.push(`${name}: ${word} is missing in ${where}`);
    }
    for (const word of promised.deleted) if (there.has(word)) this.broken.push(`${name}: ${word} is back in ${where}`);
  }

  async #stored(name: string): Promise<readonly string[]> {
    const { snapshot, updates } = await this.store.stored(this.id, name);
    const doc = new Y.Doc();
    for (const update of [...(snapshot === null ? [] : [snapshot]), ...updates]) Y.applyUpdate(doc, update);
    return doc.getArray<string>('words').toArray();
  }

  #ownerNode(): ActorRuntime {
    return this.nodes[this.#owner] as ActorRuntime;
  }

  #move(to: number): void {
    const from = this.#owner;
    this.#owner = to;
    if (from !== to) this.#lost[from]?.();
  }

  #node(node: number): ActorRuntime {
    const placement: Placement = {
      ...localPlacement(),
      locate: () => (this.#owner === node ? { here: true } : { here: false, address: String(this.#owner), incarnation: '' }),
      claim: () => this.#owner === node,
      onLost: (listener) => {
        this.#lost[node] = () => listener(this.id);
      },
    };
    const ports = {
      clock: this.clock,
      store: this.#faulty,
      journal: this.#faulty,
      placement,
      upkeep: this.#upkeep,
      meter: UNMETERED,
      log: SILENT,
    };
    return new ActorRuntime({ ...ports, idleMs: IDLE_MS, memoryBytesMax: 1_000_000, commitPart: COMMIT_PART });
  }

  #pause(): Promise<void> {
    // Mostly short pauses, sometimes long enough for a document and its actor to leave memory.
    const ms = this.#random.chance(0.1) ? this.#random.integer(2000) : this.#random.integer(6);
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }

  async #until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    while (!isDone) if (!(await this.clock.step()) && !isDone) throw new Error('a client waits although no timer is left');
    return done;
  }
}
