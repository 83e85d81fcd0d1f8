/**
 * Feeds followers with what is in Postgres and not in the actor: a notice says that something has changed, one read serves all followers of an
 * artifact, and each follower is told what comes after the number that it knows.
 */
import type { Log } from '../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';

export interface FeedListener {
  /** Number of the last thing that the client knows; undefined to start from now. */
  readonly since: number | undefined;
  readonly fail: () => void;
}

export interface FeedFollowing {
  /** Called when the client can take frames again. */
  resume(): void;
  close(): void;
}

export interface Told {
  /** The client has been told that it is subscribed. */
  begun: boolean;
  toldNo: number;
}

export interface FeedSource<F extends Told & { readonly listener: FeedListener }, S> {
  /** What it follows, for the log. */
  readonly what: string;
  /** Null where there is no such artifact. */
  read(artifactId: ArtifactId, sinceNo: number): Promise<S | null>;
  /** What the client could not take is told again after `resume`. */
  tell(following: F, state: S): void;
}

interface Feed<F> {
  readonly followings: Set<F>;
  reading: boolean;
  again: boolean;
}

export class StoredFeed<F extends Told & { readonly listener: FeedListener }, S> {
  readonly #source: FeedSource<F, S>;
  readonly #log: Log;
  readonly #feeds = new Map<ArtifactId, Feed<F>>();

  constructor(source: FeedSource<F, S>, log: Log) {
    this.#source = source;
    this.#log = log;
  }

  follow(artifactId: ArtifactId, following: F): FeedFollowing {
    const feed: Feed<F> = this.#feeds.get(artifactId) ?? { followings: new Set(), reading: false, again: false };
    this.#feeds.set(artifactId, feed);
    feed.followings.add(following);
    void this.refresh(artifactId);
    return {
      resume: () => void this.refresh(artifactId),
      close: () => {
        feed.followings.delete(following);
        if (feed.followings.size === 0 && this.#feeds.get(artifactId) === feed) this.#feeds.delete(artifactId);
      },
    };
  }

  /** One after the other, because each is a read. */
  async refreshAll(): Promise<void> {
    for (const artifactId of [...this.#feeds.keys()]) await this.refresh(artifactId);
  }

  /** One read serves all followers; a request during a read causes another one after it. Never rejects. */
  async refresh(artifactId: ArtifactId): Promise<void> {
    const feed = this.#feeds.get(artifactId);
    if (feed === undefined) return;
    feed.again = true;
    if (!feed.reading) await this.#read(artifactId, feed);
  }

  async #read(artifactId: ArtifactId, feed: Feed<F>): Promise<void> {
    feed.reading = true;
    try {
      while (feed.again && feed.followings.size > 0) {
        feed.again = false;
        const asked = [...feed.followings];
        const state = await this.#source.read(artifactId, Math.min(...asked.map(({ toldNo }) => toldNo)));
        // The artifact is gone; the access watch closes the sockets of its followers.
        if (state === null) continue;
        for (const following of asked) if (feed.followings.has(following)) this.#source.tell(following, state);
      }
    } catch (err) {
      this.#log.warn({ err, artifactId }, `${this.#source.what} could not be read; their followers reconnect`);
      for (const { listener } of [...feed.followings]) listener.fail();
    } finally {
      feed.reading = false;
    }
  }
}
