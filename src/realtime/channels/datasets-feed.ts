/** Feeds followers with new versions of datasets. Of a deletion no name is kept: followers are told to read again what they show. */
import type { Log } from '../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { ServerFrame } from '../../../protocol/data/realtime.ts';
import { type DatasetChanges, readDatasetChanges } from '../../features/data/datasets/rows.ts';
import { listedDataset } from '../../features/data/datasets/rules.ts';
import type { Bus } from '../../platform/bus.ts';
import type { Sql } from '../../storage/sql.ts';
import { type FeedFollowing, type FeedListener, StoredFeed, type Told } from './stored-feed.ts';

/** Missed versions that a returning client gets one by one; after more it reads the list. */
const MISSED_MAX = 100;

type DatasetsFrame = Extract<ServerFrame, { kind: 'dataset.version' }> | Extract<ServerFrame, { type: 'reset' | 'subscribed' }>;

export interface DatasetsListener extends FeedListener {
  /** False where the client could not take the frame. */
  readonly tell: (frame: DatasetsFrame) => boolean;
}

interface Following extends Told {
  readonly listener: DatasetsListener;
}

export class DatasetsFeed {
  readonly #feed: StoredFeed<Following, DatasetChanges>;

  constructor({ sql, log, bus }: { readonly sql: Sql; readonly log: Log; readonly bus: Bus }) {
    this.#feed = new StoredFeed({ what: 'datasets', read: (id, since) => readDatasetChanges(sql, id, since, MISSED_MAX + 1), tell }, log);
    bus.listen('datasets feed', {
      'dataset.changed': ({ artifactId }) => this.#feed.refresh(artifactId),
      resync: () => this.#feed.refreshAll(),
    });
  }

  follow(artifactId: ArtifactId, listener: DatasetsListener): FeedFollowing {
    return this.#feed.follow(artifactId, { listener, begun: false, toldNo: listener.since ?? Number.MAX_SAFE_INTEGER });
  }
}

function tell(following: Following, { seq, deletedSeq, versions }: DatasetChanges): void {
  const { listener } = following;
  if (!following.begun) {
    following.toldNo = listener.since ?? seq;
    if (!listener.tell({ type: 'subscribed', channel: 'datasets', seq: following.toldNo })) return;
    following.begun = true;
  }
  const missed = versions.filter((version) => version.seq > following.toldNo);
  if (following.toldNo > seq || following.toldNo < deletedSeq || missed.length > MISSED_MAX) {
    if (listener.tell({ type: 'reset', channel: 'datasets', seq })) following.toldNo = seq;
    return;
  }
  for (const version of missed) {
    if (!listener.tell({ type: 'event', channel: 'datasets', seq: version.seq, kind: 'dataset.version', data: listedDataset(version) }))
      return;
    following.toldNo = version.seq;
  }
}
