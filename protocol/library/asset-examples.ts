/** Examples of asset libraries, the same of both kinds. */
import { AT, EXAMPLE_IDS, inWorkspace } from '../core/example.ts';

const { deliverable, blob, collection, shareLink, upload, user } = EXAMPLE_IDS;
const ofFile = { params: { fileId: deliverable } };
const ofCollection = { params: { collectionId: collection } };
const ofItem = { params: { collectionId: collection, fileId: deliverable } };
const ofLink = { params: { fileId: deliverable, linkId: shareLink } };
const ours = <P extends Readonly<Record<string, string>>>({ params }: { readonly params: P }) => ({
  params: { ...inWorkspace.params, ...params },
});

const page = { query: { limit: '20' } };
const made = {
  body: { blobId: blob, name: 'Logo' },
  reply: {
    ...{ id: deliverable, name: 'Logo', mimeType: 'image/png', sizeBytes: 20_480, versionNo: 1 },
    contentUrl: `https://easel.example.com/v1/files/${deliverable}/content`,
    thumbnailUrl: null,
    createdBy: user,
    createdAt: AT,
    updatedAt: AT,
  },
};
const started = {
  body: { filename: 'logo.png', mimeType: 'image/png', sizeBytes: 20_480 },
  reply: {
    ...{ id: upload, filename: 'logo.png', mimeType: 'image/png', sizeBytes: 20_480, offset: 0, pieceBytesMax: 8_388_608 },
    expiresAt: '2026-01-06T09:30:00.000Z',
    file: null,
  },
};
const ofUpload = { params: { uploadId: upload } };
const piece = { query: { offset: '0' } };
const link = { body: { gate: 'password', password: 'correct horse battery' } };

export const assetExamples = {
  'assets.list': page,
  'assets.upload': {
    reply: {
      ...{ id: blob, filename: 'logo.png', mimeType: 'image/png', sizeBytes: 20_480 },
      contentUrl: `https://easel.example.com/v1/files/${blob}/content`,
      thumbnailUrl: null,
      createdBy: user,
      createdAt: AT,
    },
  },
  'assets.beginUpload': started,
  'assets.getUpload': ofUpload,
  'assets.sendPiece': { ...ofUpload, ...piece },
  'assets.cancelUpload': ofUpload,
  'workspaceAssets.beginUpload': { ...inWorkspace, ...started },
  'workspaceAssets.getUpload': ours(ofUpload),
  'workspaceAssets.sendPiece': { ...ours(ofUpload), ...piece },
  'workspaceAssets.cancelUpload': ours(ofUpload),
  'assets.removeLoose': { params: { blobId: blob } },
  'assets.create': made,
  'assets.listCollections': page,
  'assets.createCollection': { body: { name: 'Campaign' } },
  'assets.getCollection': ofCollection,
  'assets.updateCollection': { ...ofCollection, body: { name: 'Spring campaign' } },
  'assets.removeCollection': ofCollection,
  'assets.addItem': { ...ofCollection, body: { deliverableId: deliverable } },
  'assets.removeItem': ofItem,
  'assets.get': ofFile,
  'assets.update': { ...ofFile, body: { name: 'New logo' } },
  'assets.remove': ofFile,
  'assets.addVersion': { ...ofFile, body: { blobId: blob } },
  'assets.versions': { ...ofFile, ...page },
  'assets.links': { ...ofFile, ...page },
  'assets.createLink': { ...ofFile, ...link },
  'assets.revokeLink': ofLink,
  'workspaceAssets.list': { ...inWorkspace, ...page },
  'workspaceAssets.upload': inWorkspace,
  'workspaceAssets.removeLoose': ours({ params: { blobId: blob } }),
  'workspaceAssets.create': { ...inWorkspace, ...made },
  'workspaceAssets.listCollections': { ...inWorkspace, ...page },
  'workspaceAssets.createCollection': { ...inWorkspace, body: { name: 'Campaign' } },
  'workspaceAssets.getCollection': ours(ofCollection),
  'workspaceAssets.updateCollection': { ...ours(ofCollection), body: { name: 'Spring campaign' } },
  'workspaceAssets.removeCollection': ours(ofCollection),
  'workspaceAssets.addItem': { ...ours(ofCollection), body: { deliverableId: deliverable } },
  'workspaceAssets.removeItem': ours(ofItem),
  'workspaceAssets.get': ours(ofFile),
  'workspaceAssets.update': { ...ours(ofFile), body: { name: 'New logo' } },
  'workspaceAssets.remove': ours(ofFile),
  'workspaceAssets.addVersion': { ...ours(ofFile), body: { blobId: blob } },
  'workspaceAssets.versions': { ...ours(ofFile), ...page },
  'workspaceAssets.links': { ...ours(ofFile), ...page },
  'workspaceAssets.createLink': { ...ours(ofFile), ...link },
  'workspaceAssets.revokeLink': ours(ofLink),
  'files.content': ofFile,
  'files.thumbnail': ofFile,
  'pages.share': { params: { secret: 'k3vq7m2xw5tz4ndh6b2crpyfk3vq7m2xw5tz4ndh6b2' } },
  'pages.shareForm': { params: { secret: 'k3vq7m2xw5tz4ndh6b2crpyfk3vq7m2xw5tz4ndh6b2' }, body: 'password=correct+horse+battery' },
} as const;
