/** The calls of both kinds of libraries, which differ only in whose library it is. */

import type { Endpoints } from '../../../../protocol/table.ts';
import type { Handlers } from '../../../edge/call.ts';
import type { PasswordHasher } from '../../people/sign-in/password-hasher.ts';
import { collectionActions } from './collections.ts';
import { type AssetDeps, changingFiles, readingFiles } from './files.ts';
import { mine, ours } from './library.ts';
import { linkActions } from './links.ts';
import type { ShareLinks } from './share-links.ts';
import { uploadActions } from './uploads.ts';

type Ids = Extract<keyof Endpoints, `assets.${string}` | `workspaceAssets.${string}`>;

export function assetHandlers(deps: AssetDeps & { readonly shareLinks: ShareLinks; readonly hasher: PasswordHasher }): Handlers<Ids> {
  const all = { ...readingFiles(deps), ...changingFiles(deps), ...collectionActions(deps), ...linkActions(deps), ...uploadActions(deps) };
  return { ...personal(all), ...ofWorkspace(all) };
}

type All = ReturnType<typeof readingFiles> &
  ReturnType<typeof changingFiles> &
  ReturnType<typeof collectionActions> &
  ReturnType<typeof linkActions> &
  ReturnType<typeof uploadActions>;

function personal(all: All): Handlers<Extract<Ids, `assets.${string}`>> {
  return {
    'assets.list': (call) => all.list(mine(call), call),
    'assets.upload': (call) => all.upload(mine(call), call),
    'assets.beginUpload': (call) => all.beginUpload(mine(call), call),
    'assets.getUpload': (call) => all.getUpload(mine(call), call),
    'assets.sendPiece': (call) => all.sendPiece(mine(call), call),
    'assets.cancelUpload': (call) => all.cancelUpload(mine(call), call),
    'assets.removeLoose': (call) => all.removeLoose(mine(call), call),
    'assets.create': (call) => all.create(mine(call), call),
    'assets.listCollections': (call) => all.listCollections(mine(call), call),
    'assets.createCollection': (call) => all.createCollection(mine(call), call),
    'assets.getCollection': (call) => all.getCollection(mine(call), call),
    'assets.updateCollection': (call) => all.updateCollection(mine(call), call),
    'assets.removeCollection': (call) => all.removeCollection(mine(call), call),
    'assets.addItem': (call) => all.addItem(mine(call), call),
    'assets.removeItem': (call) => all.removeItem(mine(call), call),
    'assets.get': (call) => all.get(mine(call), call),
    'assets.update': (call) => all.update(mine(call), call),
    'assets.remove': (call) => all.remove(mine(call), call),
    'assets.addVersion': (call) => all.addVersion(mine(call), call),
    'assets.versions': (call) => all.versions(mine(call), call),
    'assets.links': (call) => all.links(mine(call), call),
    'assets.createLink': (call) => all.createLink(mine(call), call),
    'assets.revokeLink': (call) => all.revokeLink(mine(call), call),
  };
}

function ofWorkspace(all: All): Handlers<Extract<Ids, `workspaceAssets.${string}`>> {
  return {
    'workspaceAssets.list': (call) => all.list(ours(call), call),
    'workspaceAssets.upload': (call) => all.upload(ours(call), call),
    'workspaceAssets.beginUpload': (call) => all.beginUpload(ours(call), call),
    'workspaceAssets.getUpload': (call) => all.getUpload(ours(call), call),
    'workspaceAssets.sendPiece': (call) => all.sendPiece(ours(call), call),
    'workspaceAssets.cancelUpload': (call) => all.cancelUpload(ours(call), call),
    'workspaceAssets.removeLoose': (call) => all.removeLoose(ours(call), call),
    'workspaceAssets.create': (call) => all.create(ours(call), call),
    'workspaceAssets.listCollections': (call) => all.listCollections(ours(call), call),
    'workspaceAssets.createCollection': (call) => all.createCollection(ours(call), call),
    'workspaceAssets.getCollection': (call) => all.getCollection(ours(call), call),
    'workspaceAssets.updateCollection': (call) => all.updateCollection(ours(call), call),
    'workspaceAssets.removeCollection': (call) => all.removeCollection(ours(call), call),
    'workspaceAssets.addItem': (call) => all.addItem(ours(call), call),
    'workspaceAssets.removeItem': (call) => all.removeItem(ours(call), call),
    'workspaceAssets.get': (call) => all.get(ours(call), call),
    'workspaceAssets.update': (call) => all.update(ours(call), call),
    'workspaceAssets.remove': (call) => all.remove(ours(call), call),
    'workspaceAssets.addVersion': (call) => all.addVersion(ours(call), call),
    'workspaceAssets.versions': (call) => all.versions(ours(call), call),
    'workspaceAssets.links': (call) => all.links(ours(call), call),
    'workspaceAssets.createLink': (call) => all.createLink(ours(call), call),
    'workspaceAssets.revokeLink': (call) => all.revokeLink(ours(call), call),
  };
}
