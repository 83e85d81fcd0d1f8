/** Presence and broadcasts of one socket. Nothing is stored, and the caller has decided access before. */
import type { Clock } from '../../../actors/runtime/ports.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { type ClientFrame, type Person, person } from '../../../protocol/data/realtime.ts';
import type { Link } from '../../edge/socket.ts';
import type { Identity } from '../../features/people/identities/identities.ts';
import { TokenBucket } from './buckets.ts';
import type { Gathering } from './gathering.ts';
import { notSubscribed, tooMany } from './refusals.ts';

type Frame<T extends ClientFrame['type']> = Extract<ClientFrame, { type: T }>;

export interface CompanyDeps {
  readonly link: Link;
  readonly gathering: Gathering;
  readonly connectionId: string;
  readonly identity: Identity;
  readonly clock: Clock;
}

export class Company {
  readonly you: Person;
  readonly #deps: CompanyDeps;
  readonly #messages: TokenBucket;
  #fromText: string | undefined;

  constructor(deps: CompanyDeps) {
    this.#deps = deps;
    this.you = person.parse(deps.identity);
    this.#messages = new TokenBucket(deps.clock, LIMITS.broadcastsPerSecond, LIMITS.broadcastsBurst);
  }

  /** Joins the presence of the artifact and receives its changes. Returns the function that ends this. */
  enter(): () => void {
    const { link, gathering, connectionId } = this.#deps;
    const topic = gathering.topic('presence');
    gathering.join(connectionId, this.you);
    link.subscribe(topic);
    return () => {
      link.unsubscribe(topic);
      gathering.leave(connectionId);
    };
  }

  sendEverybody(): void {
    this.#deps.link.send(this.#deps.gathering.everybody());
  }

  hear(name: 'broadcast' | 'typing'): () => void {
    const { link, gathering } = this.#deps;
    const topic = gathering.topic(name);
    link.subscribe(topic);
    return () => link.unsubscribe(topic);
  }

  /** Throws VALUE_TOO_LARGE, or INVALID_REQUEST before `enter`. */
  show({ state }: Frame<'presence'>): void {
    const { gathering, connectionId } = this.#deps;
    const text = JSON.stringify(state);
    if (Buffer.byteLength(text) > LIMITS.presenceStateBytesMax) {
      throw tooLarge('The presence state is too large.', 'A state may have 4 KB.', 'state');
    }
    const chars = gathering.presence.charsWith(connectionId, text);
    if (chars === undefined) throw notSubscribed('presence');
    if (chars > LIMITS.presenceStatesCharsMax) {
      throw tooLarge('The presence states of this artifact are too large together.', 'Send a smaller state.', 'state');
    }
    gathering.show(connectionId, text);
  }

  /** Throws VALUE_TOO_LARGE or RATE_LIMITED. */
  say({ event, data }: Frame<'broadcast'>): void {
    const text = JSON.stringify(data) ?? 'null';
    if (Buffer.byteLength(text) > LIMITS.broadcastBytesMax)
      throw tooLarge('The message is too large.', 'A message may have 16 KB.', 'data');
    this.#publish('broadcast', 'broadcast', event, text);
  }

  /** Throws RATE_LIMITED. */
  type({ contextId, parentId, isTyping }: Frame<'typing'>): void {
    const data = JSON.stringify({ contextId: contextId ?? null, parentId: parentId ?? null, isTyping });
    this.#publish('typing', 'comments', 'typing', data);
  }

  #publish(topic: 'broadcast' | 'typing', channel: 'broadcast' | 'comments', kind: string, data: string): void {
    const { link, gathering, connectionId } = this.#deps;
    if (!this.#messages.take() || !gathering.broadcasts.take()) throw tooMany('Send fewer messages, or combine them.');
    this.#fromText ??= JSON.stringify({ connectionId, ...this.you });
    const frame = `{"type":"event","channel":"${channel}","kind":${JSON.stringify(kind)},"from":${this.#fromText},"data":${data}}`;
    link.publish(gathering.topic(topic), frame);
  }
}

function tooLarge(message: string, hint: string, param: string): Failure {
  return new Failure('VALUE_TOO_LARGE', { message, hint, param });
}
