/** The calls of one library of assets: the personal one, or that of a workspace. */
import type { Session } from './session.ts';

type Personal = Session['api']['assets'];
type Query = { readonly limit?: number; readonly cursor?: string | undefined };
type Body<Call extends keyof Personal> = Parameters<Personal[Call]>[0] extends { readonly body: infer B } ? B : never;

export type AssetLibrary = ReturnType<typeof personal>;

export function libraryOf(session: Session, workspace: string | undefined): AssetLibrary {
  return workspace === undefined ? personal(session) : ofWorkspace(session, workspace);
}

function personal({ api: { assets }, shell: { signal } }: Session) {
  return {
    list: (query: Query & { readonly collection?: string }) => assets.list({ query, signal }),
    beginUpload: (body: Body<'beginUpload'>) => assets.beginUpload({ body, signal }),
    getUpload: (uploadId: string) => assets.getUpload({ params: { uploadId }, signal }),
    sendPiece: (uploadId: string, offset: number, body: Uint8Array) =>
      assets.sendPiece({ params: { uploadId }, query: { offset }, body, signal }),
    create: (body: Body<'create'>) => assets.create({ body, signal }),
    addVersion: (fileId: string, body: Body<'addVersion'>) => assets.addVersion({ params: { fileId }, body, signal }),
    versions: (fileId: string, query: Query) => assets.versions({ params: { fileId }, query, signal }),
    createLink: (fileId: string, body: Body<'createLink'>) => assets.createLink({ params: { fileId }, body, signal }),
    links: (fileId: string, query: Query) => assets.links({ params: { fileId }, query, signal }),
    revokeLink: (fileId: string, linkId: string) => assets.revokeLink({ params: { fileId, linkId }, signal }),
    remove: (fileId: string) => assets.remove({ params: { fileId }, signal }),
    removeLoose: (blobId: string) => assets.removeLoose({ params: { blobId }, signal }),
    listCollections: (query: Query) => assets.listCollections({ query, signal }),
    createCollection: (body: Body<'createCollection'>) => assets.createCollection({ body, signal }),
    updateCollection: (collectionId: string, body: Body<'updateCollection'>) =>
      assets.updateCollection({ params: { collectionId }, body, signal }),
    removeCollection: (collectionId: string) => assets.removeCollection({ params: { collectionId }, signal }),
    addItem: (collectionId: string, deliverableId: string) => assets.addItem({ params: { collectionId }, body: { deliverableId }, signal }),
    removeItem: (collectionId: string, fileId: string) => assets.removeItem({ params: { collectionId, fileId }, signal }),
  };
}

function ofWorkspace({ api: { workspaceAssets: assets }, shell: { signal } }: Session, workspaceId: string): AssetLibrary {
  const params = { workspaceId };
  return {
    list: (query) => assets.list({ params, query, signal }),
    beginUpload: (body) => assets.beginUpload({ params, body, signal }),
    getUpload: (uploadId) => assets.getUpload({ params: { workspaceId, uploadId }, signal }),
    sendPiece: (uploadId, offset, body) => assets.sendPiece({ params: { workspaceId, uploadId }, query: { offset }, body, signal }),
    create: (body) => assets.create({ params, body, signal }),
    addVersion: (fileId, body) => assets.addVersion({ params: { workspaceId, fileId }, body, signal }),
    versions: (fileId, query) => assets.versions({ params: { workspaceId, fileId }, query, signal }),
    createLink: (fileId, body) => assets.createLink({ params: { workspaceId, fileId }, body, signal }),
    links: (fileId, query) => assets.links({ params: { workspaceId, fileId }, query, signal }),
    revokeLink: (fileId, linkId) => assets.revokeLink({ params: { workspaceId, fileId, linkId }, signal }),
    remove: (fileId) => assets.remove({ params: { workspaceId, fileId }, signal }),
    removeLoose: (blobId) => assets.removeLoose({ params: { workspaceId, blobId }, signal }),
    listCollections: (query) => assets.listCollections({ params, query, signal }),
    createCollection: (body) => assets.createCollection({ params, body, signal }),
    updateCollection: (collectionId, body) => assets.updateCollection({ params: { workspaceId, collectionId }, body, signal }),
    removeCollection: (collectionId) => assets.removeCollection({ params: { workspaceId, collectionId }, signal }),
    addItem: (collectionId, deliverableId) => assets.addItem({ params: { workspaceId, collectionId }, body: { deliverableId }, signal }),
    removeItem: (collectionId, fileId) => assets.removeItem({ params: { workspaceId, collectionId, fileId }, signal }),
  };
}
