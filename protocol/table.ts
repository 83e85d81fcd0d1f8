/** The endpoint table: every endpoint of the service, by operation id. A route that is not here does not exist. */
import { accounts } from './endpoints/accounts.ts';
import { artifacts } from './endpoints/artifacts.ts';
import { batches } from './endpoints/batch.ts';
import { blobs } from './endpoints/blobs.ts';
import { changes } from './endpoints/changes.ts';
import { commentSettingsEndpoints } from './endpoints/comment-settings.ts';
import { comments } from './endpoints/comments.ts';
import { documents } from './endpoints/documents.ts';
import { jsonKeys } from './endpoints/json-keys.ts';
import { operations } from './endpoints/operations.ts';
import { pageSdk } from './endpoints/page-sdk.ts';
import { presence } from './endpoints/presence.ts';
import { realtime } from './endpoints/realtime.ts';
import { tableQueries } from './endpoints/table-queries.ts';
import { tables } from './endpoints/tables.ts';
import { versions } from './endpoints/versions.ts';

export const endpoints = {
  ...operations,
  ...accounts,
  ...artifacts,
  ...versions,
  ...jsonKeys,
  ...tables,
  ...tableQueries,
  ...blobs,
  ...batches,
  ...changes,
  ...comments,
  ...commentSettingsEndpoints,
  ...pageSdk,
  ...realtime,
  ...presence,
  ...documents,
} as const;

export type Endpoints = typeof endpoints;
export type EndpointId = keyof Endpoints;
/** Those that are upgraded to a WebSocket. */
export type SocketEndpointId = keyof typeof realtime;
