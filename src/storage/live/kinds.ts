/** The storage of all live kinds. */
import type { Change, KindImage, KindName, KindPorts } from '../../../actors/kinds.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { Sql, Transaction } from '../sql.ts';
import { blobsStored } from './blobs.ts';
import { commentsStored } from './comments.ts';
import { documentsStored } from './documents.ts';
import { jsonStored } from './json.ts';
import type { Graves, KindColumns, StoredKind, StoredKindOf } from './live-kind.ts';
import { tablesStored } from './tables/tables.ts';

/** In the order in which a commit writes them. */
const STORED_KINDS = {
  json: jsonStored,
  tables: tablesStored,
  blobs: blobsStored,
  documents: documentsStored,
  comments: commentsStored,
} satisfies { readonly [T in KindName]: StoredKindOf<T> };

/** The types in the order of the list. */
export const STORED_TYPES = Object.keys(STORED_KINDS) as readonly KindName[];
const EACH: Readonly<Record<KindName, StoredKind<Change, object, object>>> = STORED_KINDS;

export function columnsOf(type: KindName, graves: Graves): KindColumns<Change> {
  return EACH[type].columns(graves);
}

/** All statements are sent at once. */
export async function loadKinds(tx: Transaction, artifactId: ArtifactId): Promise<KindImage> {
  const images = await Promise.all(STORED_TYPES.map((type) => EACH[type].load(tx, artifactId)));
  return Object.assign({}, ...images);
}

export function kindReads(sql: Sql): KindPorts['store'] {
  return Object.assign({}, ...STORED_TYPES.map((type) => EACH[type].reads(sql)));
}
