/** Feeds followers with published versions and the live one. These are in Postgres, not in the actor, and a notice signals a change. */
import type { Log } from '../../../actors/runtime/ports.ts';
import type { ArtifactId, VersionId } from '../../../protocol/core/ids.ts';
import type { ServerFrame } from '../../../protocol/data/realtime.ts';
import { type Bus, onArtifact } from '../../platform/bus.ts';
import { dateTime } from '../../platform/date-time.ts';
import type { Queries, Sql } from '../../storage/sql.ts';

/** Missed versions that a returning client gets one by one; after more it reads the list. */
const MISSED_MAX = 100;

type VersionsFrame =
  | Extract<ServerFrame, { kind: 'version.published' | 'version.live' }>
  | Extract<ServerFrame, { type: 'reset' | 'subscribed' }>;

interface StoredVersion {
  readonly id: VersionId;
  readonly version_no: number;
  readonly label: string | null;
  readonly note: string | null;
  readonly is_draft: boolean;
  readonly created_at_ms: number;
}

interface VersionsState {
  readonly lastNo: number;
  readonly liveId: VersionId | null;
  readonly liveNo: number | null;
  /** Versions after the requested number, oldest first. One more than `MISSED_MAX` means that there are more. */
  readonly versions: readonly StoredVersion[];
}

export interface VersionsListener {
  /** Number of the last version that the client knows; undefined to start from now. */
  readonly since: number | undefined;
  readonly seesDrafts: () => boolean;
  /** False where the client could not take the frame; it is sent again after `resume`. */
  readonly tell: (frame: VersionsFrame) => boolean;
  readonly fail: () => void;
}

export interface VersionsFollowing {
  /** Called when the client can take frames again. */
  resume(): void;
  close(): void;
}

interface Following {
  readonly listener: VersionsListener;
  begun: boolean;
  toldNo: number;
  toldLive: VersionId | null | undefined;
}

interface Feed {
  readonly followings: Set<Following>;
  reading: boolean;
  again: boolean;
}

export class VersionsFeed {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #feeds = new Map<ArtifactId, Feed>();

  constructor(deps: { readonly sql: Sql; readonly log: Log; readonly bus: Bus }) {
    this.#sql = deps.sql;
    this.#log = deps.log;
    deps.bus.listen('versions feed', {
      ...onArtifact(({ artifactId }) => this.#refresh(artifactId)),
      // One after the other, because each is a read.
      resync: async () => {
        for (const artifactId of [...this.#feeds.keys()]) await this.#refresh(artifactId);
      },
    });
  }

  follow(artifactId: ArtifactId, listener: VersionsListener): VersionsFollowing {
    const feed = this.#feeds.get(artifactId) ?? { followings: new Set(), reading: false, again: false };
    this.#feeds.set(artifactId, feed);
    const following: Following = { listener, begun: false, toldNo: listener.since ?? Number.MAX_SAFE_INTEGER, toldLive: undefined };
    feed.followings.add(following);
    void this.#refresh(artifactId);
    return {
      resume: () => void this.#refresh(artifactId),
      close: () => {
        feed.followings.delete(following);
        if (feed.followings.size === 0 && this.#feeds.get(artifactId) === feed) this.#feeds.delete(artifactId);
      },
    };
  }

  /** One read serves all followers; a request during a read causes another one after it. Never rejects. */
  async #refresh(artifactId: ArtifactId): Promise<void> {
    const feed = this.#feeds.get(artifactId);
    if (feed === undefined) return;
    feed.again = true;
    if (!feed.reading) await this.#read(artifactId, feed);
  }

  async #read(artifactId: ArtifactId, feed: Feed): Promise<void> {
    feed.reading = true;
    try {
      while (feed.again && feed.followings.size > 0) {
        feed.again = false;
        const asked = [...feed.followings];
        const state = await readVersions(this.#sql, artifactId, Math.min(...asked.map(({ toldNo }) => toldNo)));
        // The artifact is gone; the access watch closes the sockets of its followers.
        if (state === null) continue;
        for (const following of asked) if (feed.followings.has(following)) tell(following, state);
      }
    } catch (err) {
      this.#log.warn({ err, artifactId }, 'versions could not be read; their followers reconnect');
      for (const { listener } of [...feed.followings]) listener.fail();
    } finally {
      feed.reading = false;
    }
  }
}

function tell(following: Following, state: VersionsState): void {
  const { listener } = following;
  const { lastNo, liveId, liveNo } = state;
  if (!following.begun) {
    following.toldNo = listener.since ?? lastNo;
    if (listener.since === undefined) following.toldLive = liveId;
    if (!listener.tell({ type: 'subscribed', channel: 'versions', seq: following.toldNo })) return;
    following.begun = true;
  }
  const missed = state.versions.filter(({ version_no }) => version_no > following.toldNo);
  if (following.toldNo > lastNo || missed.length > MISSED_MAX) {
    if (!listener.tell({ type: 'reset', channel: 'versions', seq: lastNo })) return;
    following.toldNo = lastNo;
  } else {
    for (const version of missed) {
      if ((!version.is_draft || listener.seesDrafts()) && !listener.tell(published(version))) return;
      following.toldNo = version.version_no;
    }
  }
  if (following.toldLive === liveId) return;
  const data = { versionId: liveId, versionNo: liveNo };
  if (listener.tell({ type: 'event', channel: 'versions', seq: following.toldNo, kind: 'version.live', data })) following.toldLive = liveId;
}

function published({ id, version_no, label, note, is_draft, created_at_ms }: StoredVersion): VersionsFrame {
  const data = { versionId: id, versionNo: version_no, label, note, isDraft: is_draft, createdAt: dateTime(created_at_ms) };
  return { type: 'event', channel: 'versions', seq: version_no, kind: 'version.published', data };
}

/** Null where there is no such artifact. */
async function readVersions(sql: Queries, id: ArtifactId, sinceNo: number): Promise<VersionsState | null> {
  const [row] = await sql<{ last_no: number; live_id: VersionId | null; live_no: number | null; versions: StoredVersion[] }[]>`
    select a.last_version_no as last_no, a.live_version_id as live_id, lv.version_no as live_no,
      coalesce((
        select json_agg(v order by v.version_no)
        from (
          select id, version_no, label, note, is_draft, created_at_ms from artifact_version
          where artifact_id = a.id and version_no > ${sinceNo}::bigint and waiting_since_ms is null order by version_no desc limit ${MISSED_MAX + 1}
        ) as v
      ), '[]') as versions
    from artifact a left join artifact_version lv on lv.id = a.live_version_id
    where a.id = ${id}`;
  return row === undefined ? null : { lastNo: row.last_no, liveId: row.live_id, liveNo: row.live_no, versions: row.versions };
}
