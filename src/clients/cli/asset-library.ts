/** The calls of one library of assets: the personal one, or that of a workspace. */
import type { Session } from './session.ts';

type Personal = Session['api']['assets'];
type Query = { readonly limit?: number; readonly cursor?: string | undefined };
type Body<Call extends keyof Personal> = Parameters<Personal[Call]>[0] extends { readonly body: infer B } ? B : never;
type Form = { readonly body: Uint8Array; readonly mediaType: string };

export type AssetLibrary = ReturnType<typeof personal>;

export function libraryOf(session: Session, workspace: string | undefined): AssetLibrary {
  return workspace === undefined ? personal(session) : ofWorkspace(session, workspace);
}

function personal({ api: { assets }, shell: { signal } }: Session) {
  return {
    list: (query: Query) => assets.list({ query, signal }),
    upload: (form: Form) => assets.upload({ ...form, signal }),
    create: (body: Body<'create'>) => assets.create({ body, signal }),
    addVersion: (fileId: string, body: Body<'addVersion'>) => assets.addVersion({ params: { fileId }, body, signal }),
    versions: (fileId: string, query: Query) => assets.versions({ params: { fileId }, query, signal }),
    createLink: (fileId: string, body: Body<'createLink'>) => assets.createLink({ params: { fileId }, body, signal }),
    links: (fileId: string, query: Query) => assets.links({ params: { fileId }, query, signal }),
    revokeLink: (fileId: string, linkId: string) => assets.revokeLink({ params: { fileId, linkId }, signal }),
    remove: (fileId: string) => assets.remove({ params: { fileId }, signal }),
    removeLoose: (blobId: string) => assets.removeLoose({ params: { blobId }, signal }),
  };
}

function ofWorkspace({ api: { workspaceAssets: assets }, shell: { signal } }: Session, workspaceId: string): AssetLibrary {
  const params = { workspaceId };
  return {
    list: (query) => assets.list({ params, query, signal }),
    upload: (form) => assets.upload({ params, ...form, signal }),
    create: (body) => assets.create({ params, body, signal }),
    addVersion: (fileId, body) => assets.addVersion({ params: { workspaceId, fileId }, body, signal }),
    versions: (fileId, query) => assets.versions({ params: { workspaceId, fileId }, query, signal }),
    createLink: (fileId, body) => assets.createLink({ params: { workspaceId, fileId }, body, signal }),
    links: (fileId, query) => assets.links({ params: { workspaceId, fileId }, query, signal }),
    revokeLink: (fileId, linkId) => assets.revokeLink({ params: { workspaceId, fileId, linkId }, signal }),
    remove: (fileId) => assets.remove({ params: { workspaceId, fileId }, signal }),
    removeLoose: (blobId) => assets.removeLoose({ params: { workspaceId, blobId }, signal }),
  };
}
