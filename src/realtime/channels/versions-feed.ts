/** Feeds followers with published versions and the live one. These are in Postgres, not in the actor, and a notice signals a change. */
import type { Log } from '../../../actors/runtime/ports.ts';
import type { ArtifactId, VersionId } from '../../../protocol/core/ids.ts';
import type { ServerFrame } from '../../../protocol/data/realtime.ts';
import { type Bus, onArtifact } from '../../platform/bus.ts';
import { dateTime } from '../../platform/date-time.ts';
import type { Queries, Sql } from '../../storage/sql.ts';
import { type FeedFollowing, type FeedListener, StoredFeed, type Told } from './stored-feed.ts';

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

export interface VersionsListener extends FeedListener {
  readonly seesDrafts: () => boolean;
  /** False where the client could not take the frame; it is sent again after `resume`. */
  readonly tell: (frame: VersionsFrame) => boolean;
}

interface Following extends Told {
  readonly listener: VersionsListener;
  toldLive: VersionId | null | undefined;
}

export class VersionsFeed {
  readonly #feed: StoredFeed<Following, VersionsState>;

  constructor({ sql, log, bus }: { readonly sql: Sql; readonly log: Log; readonly bus: Bus }) {
    this.#feed = new StoredFeed({ what: 'versions', read: (id, sinceNo) => readVersions(sql, id, sinceNo), tell }, log);
    bus.listen('versions feed', {
      ...onArtifact(({ artifactId }) => this.#feed.refresh(artifactId)),
      resync: () => this.#feed.refreshAll(),
    });
  }

  follow(artifactId: ArtifactId, listener: VersionsListener): FeedFollowing {
    const toldNo = listener.since ?? Number.MAX_SAFE_INTEGER;
    return this.#feed.follow(artifactId, { listener, begun: false, toldNo, toldLive: undefined });
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
