/** Prepares the examples of asset libraries. */
import type { TestEasel, TestUser } from '../support/easel.ts';

interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
}

type Ids = Readonly<Record<string, string>>;

interface Tools<W> {
  /** Throws where the call fails. */
  call(easel: TestEasel, user: TestUser, method: string, path: string, body?: unknown): Promise<Response>;
  workspace(world: W): Promise<{ ids: { workspace: string } }>;
  form(text: string): { readonly body: Uint8Array; readonly headers: Readonly<Record<string, string>> };
}

export function assetArrangements<W extends World>({ call, workspace, form }: Tools<W>) {
  const made = async (world: W, path: string, body: unknown) =>
    ((await (await call(world.easel, world.owner, 'POST', path, body)).json()) as { id: string; url: string }) ?? {};

  /** The arrangements of one kind of library, by the end of the endpoint's id. */
  const kind = (place: (world: W) => Promise<{ ids: Ids; base: string }>) => {
    const loose = async (world: W) => {
      const { ids, base } = await place(world);
      const { body, headers } = form('kept');
      const sent = { method: 'POST', token: world.owner.token, headers, body: new Uint8Array(body) };
      const reply = await world.easel.fetch(`${base}/upload`, sent);
      return { base, ids: { ...ids, blob: ((await reply.json()) as { id: string }).id } as Ids };
    };
    const file = async (world: W) => {
      const { base, ids } = await loose(world);
      const { id } = await made(world, `${base}/deliverables`, { blobId: ids.blob });
      return { base, ids: { ...ids, deliverable: id } as Ids };
    };
    const collection = async (world: W) => {
      const { base, ids } = await file(world);
      const { id } = await made(world, `${base}/collections`, { name: 'Old' });
      return { base, ids: { ...ids, collection: id } as Ids };
    };
    const only = (arrange: (world: W) => Promise<{ ids: Ids }>) => async (world: W) => ({ ids: (await arrange(world)).ids });
    return {
      loose: only(loose),
      file: only(file),
      collection: only(collection),
      list: only(async (world: W) => file(world)),
      upload: async (world: W) => ({ ...form('sent'), ids: (await place(world)).ids }),
      version: only(async (world: W) => {
        const { base, ids } = await file(world);
        const { body, headers } = form('newer');
        const sent = { method: 'POST', token: world.owner.token, headers, body: new Uint8Array(body) };
        const reply = await world.easel.fetch(`${base}/upload`, sent);
        return { ids: { ...ids, blob: ((await reply.json()) as { id: string }).id } };
      }),
      item: only(async (world: W) => {
        const { base, ids } = await collection(world);
        await made(world, `${base}/collections/${ids.collection}/items`, { deliverableId: ids.deliverable });
        return { ids };
      }),
      place: only(place),
      begun: async (world: W) => {
        const { base, ids } = await place(world);
        const { id } = await made(world, `${base}/uploads`, { filename: 'plan.txt', mimeType: 'text/plain', sizeBytes: 4 });
        return { ids: { ...ids, upload: id } as Ids };
      },
      link: async (world: W, gate: object = {}) => {
        const { base, ids } = await file(world);
        const { id, url } = await made(world, `${base}/${ids.deliverable}/links`, gate);
        return { ids: { ...ids, shareLink: id }, secret: url.slice(url.lastIndexOf('/') + 1) };
      },
    };
  };

  const mine = kind(async () => ({ ids: {}, base: '/v1/assets' }));
  const ours = kind(async (world) => {
    const { ids } = await workspace(world);
    return { ids, base: `/v1/workspaces/${ids.workspace}/assets` };
  });
  const named = (prefix: string, of: typeof mine) =>
    Object.fromEntries(
      Object.entries({
        list: of.list,
        upload: of.upload,
        beginUpload: of.place,
        getUpload: of.begun,
        sendPiece: async (world: W) => ({
          ...(await of.begun(world)),
          body: new TextEncoder().encode('sent'),
          headers: { 'content-type': 'application/offset+octet-stream' },
        }),
        cancelUpload: of.begun,
        removeLoose: of.loose,
        create: of.loose,
        listCollections: of.collection,
        createCollection: of.place,
        getCollection: of.collection,
        updateCollection: of.collection,
        removeCollection: of.collection,
        addItem: of.collection,
        removeItem: of.item,
        get: of.file,
        update: of.file,
        remove: of.file,
        addVersion: of.version,
        versions: of.file,
        links: of.link,
        createLink: of.file,
        revokeLink: async (world: W) => ({ ids: (await of.link(world)).ids }),
      }).map(([name, arrange]) => [`${prefix}.${name}`, async (world: W) => withoutSecret(await arrange(world))]),
    );
  const withoutSecret = ({ secret: _, ...arranged }: { ids: Ids; secret?: string }) => arranged;

  return {
    ...named('assets', mine),
    ...named('workspaceAssets', ours),
    'files.content': ours.file,
    'files.thumbnail': async (world: W) => {
      const { ids } = await ours.file(world);
      // Any object does for a picture.
      await world.easel.sql`
        insert into asset_thumbnail (file_id, holder, asked_at_ms, sha256)
        select id, workspace_id, 0, sha256 from asset_file where deliverable_id = ${ids.deliverable ?? ''}`;
      return { ids };
    },
    'pages.share': async (world: W) => ({ params: { secret: (await mine.link(world)).secret } }),
    'pages.shareForm': async (world: W) => ({
      params: { secret: (await mine.link(world, { gate: 'password', password: 'correct horse battery' })).secret },
    }),
  };
}
