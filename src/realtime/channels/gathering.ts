/**
 * Presence and broadcasts on the channels of one artifact, none of which is stored. uWebSockets publishes each frame to all sockets at once.
 * Changes of presence are gathered, so that n moving people cost n frames a tick instead of n² a movement.
 */

import { PresencePart, type PresentPerson } from '../../../actors/presence/presence-part.ts';
import type { Clock, Timer } from '../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import type { Link } from '../../edge/socket.ts';
import { TokenBucket } from './buckets.ts';

/** Interval between two presence frames: with few people, and from `CROWD` people on. */
const TICK_MS = 50;
const CROWD_TICK_MS = 100;
const CROWD = 100;

/** A socket of the artifact. Any of them can publish to all. */
export interface GatheredSession {
  readonly link: Link;
  /** Called when a heartbeat is due. */
  beat(): void;
}

export type EphemeralTopic = 'presence' | 'broadcast' | 'typing';

export class Gathering {
  readonly presence = new PresencePart();
  /** The shared budget of broadcasts of all sockets. */
  readonly broadcasts: TokenBucket;
  readonly #artifactId: ArtifactId;
  readonly #clock: Clock;
  readonly #members = new Set<GatheredSession>();
  #tick: Timer | undefined;
  #sentAtMs = Number.NEGATIVE_INFINITY;

  constructor(artifactId: ArtifactId, clock: Clock) {
    this.#artifactId = artifactId;
    this.#clock = clock;
    this.broadcasts = new TokenBucket(clock, LIMITS.artifactBroadcastsPerSecond, LIMITS.artifactBroadcastsPerSecond);
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  get members(): Iterable<GatheredSession> {
    return this.#members;
  }

  topic(name: EphemeralTopic): string {
    return `channels/${this.#artifactId}/${name}`;
  }

  add(member: GatheredSession): void {
    this.#members.add(member);
  }

  remove(member: GatheredSession): void {
    this.#members.delete(member);
    if (!this.isEmpty) return;
    this.#tick?.cancel();
    this.#tick = undefined;
  }

  /** The frame with all present people. */
  everybody(): string {
    return `{"type":"event","channel":"presence","kind":"people","data":${this.presence.everybody()}}`;
  }

  join(connectionId: string, person: PresentPerson): void {
    this.presence.join(connectionId, person);
    this.#gather();
  }

  /** False where the connection is not present. */
  show(connectionId: string, stateText: string): boolean {
    const known = this.presence.show(connectionId, stateText);
    this.#gather();
    return known;
  }

  leave(connectionId: string): void {
    this.presence.leave(connectionId);
    this.#gather();
  }

  /** Publishes at once where nothing was sent for a tick, else at the end of the tick. */
  #gather(): void {
    if (this.#tick !== undefined || !this.presence.hasNews) return;
    const tickMs = this.presence.size >= CROWD ? CROWD_TICK_MS : TICK_MS;
    const waitMs = Math.max(0, this.#sentAtMs + tickMs - this.#clock.monotonicMs());
    this.#tick = this.#clock.after(waitMs, () => this.#send());
  }

  #send(): void {
    this.#tick = undefined;
    if (!this.presence.hasNews) return;
    this.#sentAtMs = this.#clock.monotonicMs();
    const data = this.presence.take(LIMITS.presenceFrameCharsMax);
    const frame = `{"type":"event","channel":"presence","kind":"update","data":${data}}`;
    const [any] = this.#members;
    any?.link.broadcast(this.topic('presence'), frame);
    this.#gather();
  }
}

/** The gatherings of all artifacts of this process. */
export class Gatherings {
  readonly #clock: Clock;
  readonly #gatherings = new Map<ArtifactId, Gathering>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  enter(artifactId: ArtifactId, member: GatheredSession): Gathering {
    const gathering = this.#gatherings.get(artifactId) ?? new Gathering(artifactId, this.#clock);
    this.#gatherings.set(artifactId, gathering);
    gathering.add(member);
    return gathering;
  }

  exit(artifactId: ArtifactId, member: GatheredSession): void {
    const gathering = this.#gatherings.get(artifactId);
    gathering?.remove(member);
    if (gathering?.isEmpty) this.#gatherings.delete(artifactId);
  }

  each(tell: (member: GatheredSession) => void): void {
    for (const gathering of [...this.#gatherings.values()]) for (const member of [...gathering.members]) tell(member);
  }

  get isEmpty(): boolean {
    return this.#gatherings.size === 0;
  }
}
