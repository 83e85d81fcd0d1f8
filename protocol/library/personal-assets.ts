/** What the calls of a personal library and of a workspace's have in common, and those of the personal one. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dataPageReply, pageQuery, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { params as inWorkspace } from '../workspaces/access.ts';
import {
  assetPage,
  collection,
  collectionUpdate,
  deliverable,
  deliverableUpdate,
  deliverableVersion,
  looseFile,
  newCollection,
  newCollectionItem,
  newDeliverable,
  newShareLink,
  newVersion,
  shareLink,
} from './assets.ts';

const MINE = '/v1/assets';
const person = { who: 'account', person: true } as const;

const fileId = idSchema('deliverable');
const collectionId = idSchema('collection');
export const ofFile = { mine: z.object({ fileId }), ours: inWorkspace.extend({ fileId }) };
export const ofLoose = { mine: z.object({ blobId: idSchema('blob') }), ours: inWorkspace.extend({ blobId: idSchema('blob') }) };
export const ofCollection = { mine: z.object({ collectionId }), ours: inWorkspace.extend({ collectionId }) };
export const ofItem = { mine: z.object({ collectionId, fileId }), ours: inWorkspace.extend({ collectionId, fileId }) };
export const ofLink = {
  mine: z.object({ fileId, linkId: idSchema('shareLink') }),
  ours: inWorkspace.extend({ fileId, linkId: idSchema('shareLink') }),
};

const json = <S extends z.ZodType>(schema: S) => ({ kind: 'json', schema, bytesMax: LIMITS.bodyBytesMax }) as const;
const mine = { group: 'assets', limit: 'assets', access: person } as const;

export const list = {
  method: 'GET',
  query: z.object({ ...pageQuery, collection: collectionId.optional().meta({ description: 'only the deliverables in it' }) }),
  replies: { ok: { status: 200, body: assetPage } },
  errors: ['COLLECTION_NOT_FOUND'],
} as const;
export const upload = {
  method: 'POST',
  body: {
    kind: 'stream',
    bytesMax: LIMITS.blobBytesMax + LIMITS.multipartOverheadBytesMax,
    types: ['multipart/form-data'],
    tooLarge: 'FILE_TOO_LARGE',
  },
  replies: { created: { status: 201, body: looseFile } },
  errors: ['FILE_TOO_LARGE', 'ACCOUNT_STORAGE_FULL', 'INVALID_MIME_TYPE', 'ASSET_LIMIT_EXCEEDED'],
} as const;
export const removeLoose = { method: 'DELETE', replies: { ok: { status: 200, body: success } }, errors: ['BLOB_NOT_FOUND'] } as const;
export const create = {
  method: 'POST',
  body: json(newDeliverable),
  replies: { created: { status: 201, body: deliverable } },
  errors: ['BLOB_NOT_FOUND'],
} as const;
export const addVersion = {
  method: 'POST',
  body: json(newVersion),
  replies: { created: { status: 201, body: deliverable } },
  errors: ['BLOB_NOT_FOUND', 'FILE_NOT_FOUND'],
} as const;
export const versions = {
  method: 'GET',
  query: z.object(pageQuery),
  replies: { ok: { status: 200, body: z.object({ versions: z.array(deliverableVersion), ...dataPageReply }) } },
  errors: ['FILE_NOT_FOUND'],
} as const;
export const get = {
  method: 'GET',
  conditional: true,
  replies: { ok: { status: 200, body: deliverable } },
  errors: ['FILE_NOT_FOUND'],
} as const;
export const update = {
  method: 'PATCH',
  conditional: true,
  body: json(deliverableUpdate),
  replies: { ok: { status: 200, body: deliverable } },
  errors: ['FILE_NOT_FOUND', 'VERSION_CONFLICT'],
} as const;
export const remove = {
  method: 'DELETE',
  conditional: true,
  replies: { ok: { status: 200, body: success } },
  errors: ['FILE_NOT_FOUND', 'VERSION_CONFLICT'],
} as const;

export const listCollections = {
  method: 'GET',
  query: z.object({ ...pageQuery, file: fileId.optional().meta({ description: 'only those that have this deliverable' }) }),
  replies: { ok: { status: 200, body: z.object({ collections: z.array(collection), ...dataPageReply }) } },
  errors: [],
} as const;
export const createCollection = {
  method: 'POST',
  body: json(newCollection),
  replies: { created: { status: 201, body: collection } },
  errors: ['ASSET_LIMIT_EXCEEDED'],
} as const;
export const getCollection = {
  method: 'GET',
  conditional: true,
  replies: { ok: { status: 200, body: collection } },
  errors: ['COLLECTION_NOT_FOUND'],
} as const;
export const updateCollection = {
  method: 'PATCH',
  conditional: true,
  body: json(collectionUpdate),
  replies: { ok: { status: 200, body: collection } },
  errors: ['COLLECTION_NOT_FOUND', 'VERSION_CONFLICT'],
} as const;
export const removeCollection = {
  method: 'DELETE',
  conditional: true,
  replies: { ok: { status: 200, body: success } },
  errors: ['COLLECTION_NOT_FOUND', 'VERSION_CONFLICT'],
} as const;
export const addItem = {
  method: 'POST',
  body: json(newCollectionItem),
  replies: { ok: { status: 200, body: collection } },
  errors: ['COLLECTION_NOT_FOUND', 'FILE_NOT_FOUND', 'ASSET_LIMIT_EXCEEDED'],
} as const;
export const removeItem = {
  method: 'DELETE',
  replies: { ok: { status: 200, body: success } },
  errors: ['COLLECTION_NOT_FOUND', 'FILE_NOT_FOUND'],
} as const;

export const links = {
  method: 'GET',
  query: z.object(pageQuery),
  replies: { ok: { status: 200, body: z.object({ links: z.array(shareLink), ...dataPageReply }) } },
  errors: ['FILE_NOT_FOUND'],
} as const;
export const createLink = {
  method: 'POST',
  body: json(newShareLink),
  replies: { created: { status: 201, body: shareLink } },
  errors: ['FILE_NOT_FOUND', 'ASSET_LIMIT_EXCEEDED', 'UNAVAILABLE'],
} as const;
export const revokeLink = {
  method: 'DELETE',
  replies: { ok: { status: 200, body: success } },
  errors: ['FILE_NOT_FOUND', 'SHARE_LINK_NOT_FOUND'],
} as const;

export const assets = {
  'assets.list': endpoint({ ...mine, ...list, path: MINE, summary: 'The files of your library, newest first.' }),
  'assets.upload': endpoint({ ...mine, ...upload, path: `${MINE}/upload`, summary: 'Stores a file from a multipart form; it is loose.' }),
  'assets.removeLoose': endpoint({
    ...mine,
    ...removeLoose,
    path: `${MINE}/loose/{blobId}`,
    params: ofLoose.mine,
    summary: 'Deletes a loose file.',
  }),
  'assets.create': endpoint({ ...mine, ...create, path: `${MINE}/deliverables`, summary: 'Makes a deliverable of a loose file.' }),
  'assets.listCollections': endpoint({
    ...mine,
    ...listCollections,
    path: `${MINE}/collections`,
    summary: 'The collections of your library, newest first.',
  }),
  'assets.createCollection': endpoint({ ...mine, ...createCollection, path: `${MINE}/collections`, summary: 'Makes a collection.' }),
  'assets.getCollection': endpoint({
    ...mine,
    ...getCollection,
    path: `${MINE}/collections/{collectionId}`,
    params: ofCollection.mine,
    summary: 'One collection.',
  }),
  'assets.updateCollection': endpoint({
    ...mine,
    ...updateCollection,
    path: `${MINE}/collections/{collectionId}`,
    params: ofCollection.mine,
    resource: 'assets.getCollection',
    summary: 'Renames a collection.',
  }),
  'assets.removeCollection': endpoint({
    ...mine,
    ...removeCollection,
    path: `${MINE}/collections/{collectionId}`,
    params: ofCollection.mine,
    resource: 'assets.getCollection',
    summary: 'Deletes a collection; its files stay.',
  }),
  'assets.addItem': endpoint({
    ...mine,
    ...addItem,
    path: `${MINE}/collections/{collectionId}/items`,
    params: ofCollection.mine,
    summary: 'Puts a deliverable into a collection.',
  }),
  'assets.removeItem': endpoint({
    ...mine,
    ...removeItem,
    path: `${MINE}/collections/{collectionId}/items/{fileId}`,
    params: ofItem.mine,
    summary: 'Takes a deliverable out of a collection.',
  }),
  'assets.get': endpoint({ ...mine, ...get, path: `${MINE}/{fileId}`, params: ofFile.mine, summary: 'One deliverable.' }),
  'assets.update': endpoint({
    ...mine,
    ...update,
    path: `${MINE}/{fileId}`,
    params: ofFile.mine,
    resource: 'assets.get',
    summary: 'Renames a deliverable.',
  }),
  'assets.remove': endpoint({
    ...mine,
    ...remove,
    path: `${MINE}/{fileId}`,
    params: ofFile.mine,
    resource: 'assets.get',
    summary: 'Deletes a deliverable with its versions and links.',
  }),
  'assets.addVersion': endpoint({
    ...mine,
    ...addVersion,
    path: `${MINE}/{fileId}/version`,
    params: ofFile.mine,
    summary: 'Makes a loose file the newest version. The newest 20 are kept.',
  }),
  'assets.versions': endpoint({
    ...mine,
    ...versions,
    path: `${MINE}/{fileId}/versions`,
    params: ofFile.mine,
    summary: 'The versions of a deliverable, newest first.',
  }),
  'assets.links': endpoint({
    ...mine,
    ...links,
    path: `${MINE}/{fileId}/links`,
    params: ofFile.mine,
    summary: 'The share links of a deliverable, newest first.',
  }),
  'assets.createLink': endpoint({
    ...mine,
    ...createLink,
    path: `${MINE}/{fileId}/links`,
    params: ofFile.mine,
    summary: 'Makes a link by which others open the newest version.',
  }),
  'assets.revokeLink': endpoint({
    ...mine,
    ...revokeLink,
    path: `${MINE}/{fileId}/links/{linkId}`,
    params: ofLink.mine,
    summary: 'Ends a share link at once.',
  }),
} as const;
