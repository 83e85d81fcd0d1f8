/** The feeds of all live kinds. */
import type { ChangeOf, KindName } from '../../../../actors/kinds.ts';
import type { ChangeType } from '../../../../protocol/data/changes.ts';
import { blobsFeed } from '../blobs/feed.ts';
import { commentsFeed } from '../comments/feed.ts';
import { documentsFeed } from '../documents/feed.ts';
import { jsonFeed } from '../json-keys/feed.ts';
import { tablesFeed } from '../tables/feed.ts';
import type { Feed } from './feed.ts';

const LISTED = {
  json: jsonFeed,
  tables: tablesFeed,
  blobs: blobsFeed,
  comments: commentsFeed,
  documents: documentsFeed,
} satisfies { readonly [T in KindName]: Feed<ChangeOf<T>, never> };

export const FEEDS: Readonly<Record<ChangeType, Feed>> = LISTED;
