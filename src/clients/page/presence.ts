/** `easel.presence` */
import type * as api from './api.ts';
import type { Stop } from './api-outside.ts';
import type { ArtifactChannel } from './channel.ts';
import { tell } from './listeners.ts';
import type { Surroundings } from './transport.ts';
import type { PresentPerson } from './wire.ts';

/** The server passes on states at this interval; sending more often is useless. */
const GAP_MS = 50;

interface Update {
  readonly people?: readonly PresentPerson[];
  readonly joined?: readonly PresentPerson[];
  readonly updated?: readonly Pick<PresentPerson, 'connectionId' | 'state'>[];
  readonly left?: readonly string[];
}

export class ArtifactPresence implements api.Presence {
  people: readonly api.Present[] = [];
  readonly #channel: ArtifactChannel;
  readonly #around: Surroundings;
  readonly #listeners = new Set<(people: readonly api.Present[]) => void>();
  #leave: Stop | undefined;
  #state: { readonly [field: string]: unknown } | null = null;
  #isSending = false;

  constructor(channel: ArtifactChannel, around: Surroundings) {
    this.#channel = channel;
    this.#around = around;
  }

  get me(): api.Channel['me'] {
    return this.#channel.me;
  }

  set(state: { readonly [field: string]: unknown } | null): void {
    this.#join();
    this.#state = state;
    if (!this.#isSending) void this.#send();
  }

  on(_event: 'change', listener: (people: readonly api.Present[]) => void): Stop {
    this.#join();
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  leave(): void {
    this.#leave?.();
    this.#leave = undefined;
    this.#state = null;
    this.#become([]);
  }

  #join(): void {
    this.#leave ??= this.#channel.subscribe('presence', ({ type, data }) => {
      // After a reconnect the server no longer has our state.
      if (type === 'subscribed' && this.#state !== null) this.#channel.show(this.#state);
      if (type === 'event') this.#take(data as Update);
    });
  }

  /** Sends the state immediately, then the latest one after each interval until it no longer changes. */
  async #send(): Promise<void> {
    this.#isSending = true;
    for (let sent: object | null | undefined; sent !== this.#state; ) {
      sent = this.#state;
      this.#channel.show(sent);
      await this.#around.wait(GAP_MS);
    }
    this.#isSending = false;
  }

  #take({ people, joined = [], updated = [], left = [] }: Update): void {
    const known = new Map((people ?? this.people).map((person) => [person.connectionId, person]));
    for (const person of joined) known.set(person.connectionId, person);
    for (const { connectionId, state } of updated) {
      const person = known.get(connectionId);
      if (person !== undefined) known.set(connectionId, { ...person, state });
    }
    for (const connectionId of left) known.delete(connectionId);
    this.#become([...known.values()].map((person) => ({ ...person, isMe: person.connectionId === this.me?.connectionId })));
  }

  #become(people: readonly api.Present[]): void {
    this.people = people;
    for (const listener of [...this.#listeners]) tell(listener, people);
  }
}
