/** One socket of …/channels: its subscriptions, its access and its presence. Source: design.md "Channels". */
import { type ArtifactHead, type Decision, decide, type Principal } from '../../../actors/access/access.ts';
import type { Clock } from '../../../actors/runtime/ports.ts';
import { CLOSE } from '../../../protocol/core/close-codes.ts';
import type { Need, Scope } from '../../../protocol/core/endpoint.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import {
  type ChannelName,
  type ClientFrame,
  DURABLE_CHANNELS,
  type DurableChannel,
  type ServerFrame,
} from '../../../protocol/data/realtime.ts';
import { type AccessNow, closeCodeOf, ENDS, type OpenAccess } from '../../edge/open-access.ts';
import { refusalOf } from '../../edge/refusals.ts';
import type { Link, SocketSession } from '../../edge/socket.ts';
import type { CommentsGate } from '../../features/data/changes/comments-gate.ts';
import { type ChangeHub, maySeeReserved } from '../../features/data/changes/hub.ts';
import { FEEDS } from '../../features/data/changes/kinds.ts';
import type { Identity } from '../../features/people/identities/identities.ts';
import type { Connections } from '../connections.ts';
import { TokenBucket } from './buckets.ts';
import { Company } from './company.ts';
import type { DatasetsFeed } from './datasets-feed.ts';
import { channelOutlet } from './durable-channel.ts';
import { errorText, frameText, readFrame } from './frames.ts';
import type { GatheredSession, Gatherings } from './gathering.ts';
import { notSubscribed, tooMany } from './refusals.ts';
import type { FeedFollowing } from './stored-feed.ts';
import type { VersionsFeed } from './versions-feed.ts';

/** Malformed frames after which the connection is closed. */
const MALFORMED_MAX = 20;
/** Consecutive beats with a backlog after which the connection is closed. */
const STALLED_BEATS_MAX = 4;

export interface ChannelDeps {
  readonly clock: Clock;
  readonly hub: Pick<ChangeHub, 'follow'>;
  readonly versions: Pick<VersionsFeed, 'follow'>;
  readonly datasets: Pick<DatasetsFeed, 'follow'>;
  readonly access: Pick<OpenAccess, 'watch'>;
  readonly gatherings: Gatherings;
  readonly connections: Pick<Connections, 'join'>;
  readonly mayReadComments: CommentsGate;
}

export interface ChannelSeat {
  readonly connectionId: string;
  readonly artifactId: ArtifactId;
  readonly principal: Principal;
  readonly identity: Identity;
  readonly head: ArtifactHead;
}

interface Subscription {
  /** Runs when the client can take frames again. */
  drained?(): void;
  /** Owners and editors see more. */
  access?(reserved: boolean): void;
  close(): void;
}

type Frame<T extends ClientFrame['type']> = Extract<ClientFrame, { type: T }>;

export class ChannelSession implements SocketSession, GatheredSession {
  readonly link: Link;
  readonly #deps: ChannelDeps;
  readonly #seat: ChannelSeat;
  readonly #company: Company;
  readonly #subscriptions = new Map<ChannelName, Subscription>();
  readonly #frames: TokenBucket;
  readonly #subscribes: TokenBucket;
  readonly #leave: () => void;
  readonly #unwatch: () => void;
  #head: ArtifactHead;
  /** The caller, with what their account stands for now. */
  #principal: Principal;
  #malformed = 0;
  #stalledBeats = 0;
  /** A published frame was dropped for this client. */
  #missed = false;
  #isRefusing = false;
  #closed = false;

  constructor(link: Link, seat: ChannelSeat, deps: ChannelDeps) {
    const { artifactId, principal, identity, head, connectionId } = seat;
    this.link = link;
    this.#seat = seat;
    this.#deps = deps;
    this.#head = head;
    this.#principal = principal;
    this.#frames = new TokenBucket(deps.clock, LIMITS.channelFramesPerSecond, LIMITS.channelFramesBurst);
    this.#subscribes = new TokenBucket(deps.clock, LIMITS.channelSubscribesPerSecond, LIMITS.channelSubscribesBurst);
    const gathering = deps.gatherings.enter(artifactId, this);
    this.#company = new Company({ link, gathering, connectionId, identity, clock: deps.clock });
    this.#leave = deps.connections.join(artifactId, identity);
    this.#unwatch = deps.access.watch(artifactId, principal, (now) => this.#accessChanged(now));
    link.send(frameText({ type: 'hello', connectionId, you: this.#company.you, canWrite: this.#canWrite }));
  }

  message(data: ArrayBuffer, isBinary: boolean): void {
    if (this.#closed) return;
    if (isBinary) {
      this.link.close(CLOSE.malformed, 'Frames are JSON text.');
      return;
    }
    if (!this.#frames.take()) {
      this.#refuseTooMany();
      return;
    }
    this.#isRefusing = false;
    const read = readFrame(data);
    if ('frame' in read) this.#handle(read.frame);
    else this.#refuseMalformed(read.failure, read.id);
  }

  drained(): void {
    this.#stalledBeats = 0;
    if (this.#missed) {
      this.#missed = false;
      if (this.#subscriptions.has('presence')) this.#company.sendEverybody();
      if (this.#subscriptions.has('broadcast')) this.link.send(frameText({ type: 'reset', channel: 'broadcast', seq: 0 }));
    }
    for (const subscription of [...this.#subscriptions.values()]) subscription.drained?.();
  }

  skipped(): void {
    this.#missed = true;
  }

  closed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#unwatch();
    for (const subscription of [...this.#subscriptions.values()]) subscription.close();
    this.#subscriptions.clear();
    this.#deps.gatherings.exit(this.#seat.artifactId, this);
    this.#leave();
  }

  beat(): void {
    if (this.link.bufferedBytes === 0) {
      this.#stalledBeats = 0;
      this.link.send('{"type":"ping"}');
      return;
    }
    this.#stalledBeats += 1;
    if (this.#stalledBeats >= STALLED_BEATS_MAX) this.link.close(CLOSE.overloaded, 'The client reads too slowly.');
  }

  get #canWrite(): boolean {
    return this.#decide('collab:write', 'data:write') === 'allowed';
  }

  #decide(need: Need, scope: Scope): Decision {
    return decide(this.#head, this.#principal, need, scope);
  }

  /** Throws UNAUTHORIZED, ARTIFACT_NOT_FOUND, FORBIDDEN or INSUFFICIENT_SCOPE. */
  #require(need: Need, scope: Scope): void {
    const decision = this.#decide(need, scope);
    if (decision !== 'allowed') throw refusalOf(decision, scope);
  }

  #handle(frame: ClientFrame): void {
    try {
      this.#perform(frame);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.link.send(errorText(error, 'id' in frame ? frame.id : undefined));
    }
  }

  #perform(frame: ClientFrame): void {
    switch (frame.type) {
      case 'subscribe':
        this.#subscribe(frame);
        return;
      case 'unsubscribe':
        this.#unsubscribe(frame);
        return;
      case 'presence':
        this.#company.show(frame);
        return;
      case 'broadcast':
        this.#require('collab:write', 'data:write');
        this.#company.say(frame);
        return;
      case 'typing':
        this.#require('comment:write', 'data:write');
        if (!this.#subscriptions.has('comments')) throw notSubscribed('comments');
        this.#company.type(frame);
        return;
      case 'ping':
        this.link.send(frameText({ type: 'pong', ...(frame.id !== undefined && { id: frame.id }) }));
        return;
      case 'pong':
        return;
      default:
        frame satisfies never;
    }
  }

  /** A repeated subscription starts again from `since`. */
  #subscribe({ channel, since, id }: Frame<'subscribe'>): void {
    if (!this.#subscribes.take()) throw tooMany('Subscribe less often.');
    this.#require(needOf(channel), 'data:read');
    this.#drop(channel);
    if (channel === 'presence') this.#subscribePresence(id);
    else if (channel === 'broadcast') this.#subscribeBroadcast(id);
    else if (channel === 'versions') this.#subscribeVersions(since, id);
    else if (channel === 'datasets') this.#subscribeDatasets(since, id);
    else if (channel === 'comments') this.#subscribeComments(since, id);
    else this.#subscribeDurable(channel, since, id);
  }

  #unsubscribe({ channel, id }: Frame<'unsubscribe'>): void {
    this.#drop(channel);
    this.link.send(frameText({ type: 'unsubscribed', channel, ...(id !== undefined && { id }) }));
  }

  #drop(channel: ChannelName): void {
    const subscription = this.#subscriptions.get(channel);
    this.#subscriptions.delete(channel);
    subscription?.close();
  }

  #subscribeDurable(channel: DurableChannel, sinceSeq: number | undefined, id: string | undefined): void {
    const client = {
      send: (text: string) => this.link.send(text),
      close: (code: number, reason: string) => this.link.close(code, reason),
      recheckComments: () => this.#recheckComments(),
    };
    const request = { types: [channel], reserved: maySeeReserved(this.#head, this.#principal), sinceSeq };
    const follower = this.#deps.hub.follow(this.#seat.artifactId, request, channelOutlet(client, channel, id), () => undefined);
    this.#subscriptions.set(channel, {
      drained: () => follower.drained(),
      access: (reserved) => {
        follower.reserved = reserved;
      },
      close: () => follower.close(),
    });
  }

  /** A promise where the comment settings must be loaded first. */
  #subscribeComments(since: number | undefined, id: string | undefined): void {
    const begin = (may: boolean) => {
      if (!may) throw new Failure('COMMENTS_DISABLED');
      this.#subscribeDurable('comments', since, id);
      const unhear = this.#company.hear('typing');
      const durable = this.#subscriptions.get('comments');
      this.#subscriptions.set('comments', {
        ...durable,
        close: () => {
          durable?.close();
          unhear();
        },
      });
    };
    const may = this.#deps.mayReadComments(this.#head, this.#principal);
    if (typeof may === 'boolean') {
      begin(may);
      return;
    }
    const waiting: Subscription = { close: () => undefined };
    this.#subscriptions.set('comments', waiting);
    may
      .then((allowed) => {
        // Meanwhile the client unsubscribed or subscribed again, lost its access, or the socket closed.
        if (this.#subscriptions.get('comments') !== waiting) return;
        this.#subscriptions.delete('comments');
        begin(allowed);
      })
      .catch((error: unknown) => {
        if (this.#subscriptions.get('comments') === waiting) this.#subscriptions.delete('comments');
        if (!this.#closed) this.link.send(errorText(error instanceof Failure ? error : new Failure('UNAVAILABLE'), id));
      });
  }

  async #recheckComments(): Promise<void> {
    let may = false;
    try {
      may = await this.#deps.mayReadComments(this.#head, this.#principal);
    } catch {
      // The right could not be checked, so the subscription ends and the client subscribes again.
    }
    if (!may && this.#subscriptions.has('comments')) this.#revoke('comments', 'COMMENTS_DISABLED');
  }

  #subscribeVersions(since: number | undefined, id: string | undefined): void {
    const listener = { ...this.#stored(since, id), seesDrafts: () => maySeeReserved(this.#head, this.#principal) };
    this.#subscribeStored('versions', this.#deps.versions.follow(this.#seat.artifactId, listener));
  }

  #subscribeDatasets(since: number | undefined, id: string | undefined): void {
    this.#subscribeStored('datasets', this.#deps.datasets.follow(this.#seat.artifactId, this.#stored(since, id)));
  }

  #stored(since: number | undefined, id: string | undefined) {
    return {
      since,
      tell: (frame: ServerFrame) => {
        const told = frame.type === 'subscribed' && id !== undefined ? { ...frame, id } : frame;
        return this.link.send(frameText(told)) !== 'skipped';
      },
      fail: () => this.link.close(CLOSE.moved, 'The missed changes could not be read.'),
    };
  }

  #subscribeStored(channel: ChannelName, following: FeedFollowing): void {
    this.#subscriptions.set(channel, { drained: () => following.resume(), close: () => following.close() });
  }

  #subscribePresence(id: string | undefined): void {
    this.#subscriptions.set('presence', { close: this.#company.enter() });
    this.#sayEphemeral('presence', id);
    this.#company.sendEverybody();
  }

  #subscribeBroadcast(id: string | undefined): void {
    this.#subscriptions.set('broadcast', { close: this.#company.hear('broadcast') });
    this.#sayEphemeral('broadcast', id);
  }

  #sayEphemeral(channel: ChannelName, id: string | undefined): void {
    this.link.send(frameText({ type: 'subscribed', channel, seq: 0, ...(id !== undefined && { id }) }));
  }

  #accessChanged(now: AccessNow): void {
    if ('over' in now) {
      this.link.close(closeCodeOf(now.over), ENDS[now.over]);
      return;
    }
    const couldWrite = this.#canWrite;
    this.#head = now.head;
    this.#principal = now.principal;
    if (this.#decide('data:read', 'data:read') !== 'allowed') {
      this.link.close(CLOSE.revoked, 'You may not read this any more.');
      return;
    }
    const reserved = maySeeReserved(now.head, this.#principal);
    for (const [channel, subscription] of [...this.#subscriptions]) {
      if (this.#decide(needOf(channel), 'data:read') === 'allowed') subscription.access?.(reserved);
      else this.#revoke(channel, 'FORBIDDEN');
    }
    if (this.#subscriptions.has('comments')) void this.#recheckComments();
    if (this.#canWrite !== couldWrite) this.link.send(frameText({ type: 'access', canWrite: this.#canWrite }));
  }

  #revoke(channel: ChannelName, code: 'FORBIDDEN' | 'COMMENTS_DISABLED'): void {
    this.#drop(channel);
    this.link.send(frameText({ type: 'unsubscribed', channel, code }));
  }

  #refuseMalformed(failure: Failure, id: string | undefined): void {
    this.#malformed += 1;
    if (this.#malformed > MALFORMED_MAX) this.link.close(CLOSE.malformed, 'Too many frames could not be read.');
    else this.link.send(errorText(failure, id));
  }

  /** Sends the error once, because an answer to each frame would add to the load. */
  #refuseTooMany(): void {
    if (this.#isRefusing) return;
    this.#isRefusing = true;
    this.link.send(errorText(tooMany('Send fewer frames; this frame and those right after it are dropped.'), undefined));
  }
}

function needOf(channel: ChannelName): Need {
  if (channel === 'versions' || channel === 'datasets') return 'data:read';
  return DURABLE_CHANNELS.includes(channel as DurableChannel) ? FEEDS[channel as DurableChannel].need : 'collab:read';
}
