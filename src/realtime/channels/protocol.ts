/** The protocol of WS …/channels: JSON frames, one socket for all events of an artifact. */
import { randomBytes } from 'node:crypto';
import { type ArtifactHead, decide } from '../../../actors/access/access.ts';
import type { Timer } from '../../../actors/runtime/ports.ts';
import { CLOSE } from '../../../protocol/core/close-codes.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import type { Link, SocketCall, SocketProtocol, SocketSession } from '../../edge/socket.ts';
import type { Identities } from '../../features/people/identities/identities.ts';
import { Gatherings } from './gathering.ts';
import { type ChannelDeps, ChannelSession } from './session.ts';

/** Interval of heartbeats, below the 30 s after which clients and proxies close a silent connection. */
const BEAT_MS = 20_000;
const CONNECTION_ID_BYTES = 12;

export interface ChannelsDeps extends Omit<ChannelDeps, 'gatherings'> {
  readonly identities: Pick<Identities, 'of'>;
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
}

/** The session of a connection that is closed as soon as it opens. */
const NO_SESSION: SocketSession = {
  message: () => undefined,
  drained: () => undefined,
  skipped: () => undefined,
  closed: () => undefined,
};

export class ChannelsProtocol implements SocketProtocol {
  readonly messageBytesMax = LIMITS.channelFrameBytesMax;
  readonly highWaterBytes = LIMITS.channelBacklogBytesMax;
  readonly #deps: ChannelsDeps;
  readonly #gatherings: Gatherings;
  #beat: Timer | undefined;

  constructor(deps: ChannelsDeps) {
    this.#deps = deps;
    this.#gatherings = new Gatherings(deps.clock);
  }

  /** Loads the account's name before the socket opens. */
  async admit({ principal }: SocketCall): Promise<void> {
    await this.#deps.identities.of(principal, '');
  }

  open(link: Link, { principal, params }: SocketCall): SocketSession {
    const { identities, heads, clock } = this.#deps;
    const artifactId = params.artifactId as ArtifactId;
    const connectionId = randomBytes(CONNECTION_ID_BYTES).toString('base64url');
    const identity = identities.of(principal, connectionId);
    // The artifact's access may have changed while the name was loaded.
    const head = heads.get(artifactId);
    if (identity instanceof Promise || head instanceof Promise) {
      link.close(CLOSE.moved, 'Reconnect, because access has to be decided again.');
      return NO_SESSION;
    }
    if (decide(head, principal, 'data:read', 'data:read') !== 'allowed') {
      link.close(CLOSE.revoked, 'You may not read this any more.');
      return NO_SESSION;
    }
    this.#beat ??= clock.after(BEAT_MS, () => this.#beatAll());
    return new ChannelSession(
      link,
      { connectionId, artifactId, principal, identity, head },
      { ...this.#deps, gatherings: this.#gatherings },
    );
  }

  #beatAll(): void {
    this.#gatherings.each((member) => member.beat());
    this.#beat = this.#gatherings.isEmpty ? undefined : this.#deps.clock.after(BEAT_MS, () => this.#beatAll());
  }
}
