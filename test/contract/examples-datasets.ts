/** Prepares the examples of datasets. */
import type { TestEasel, TestUser } from '../support/easel.ts';

interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly artifactId: string;
}

const CSV = { 'content-type': 'text/csv' };
const ROWS = 'city,people\r\nBern,134000\r\nLima,10000000\r\n';

async function stored({ easel, owner, artifactId }: World) {
  const init = { method: 'PUT', token: owner.token, headers: CSV, body: ROWS };
  const reply = await easel.fetch(`/v1/data/${artifactId}/datasets/cities`, init);
  if (!reply.ok) throw new Error(await reply.text());
  const { data } = (await reply.json()) as { data: { version: number } };
  return data.version;
}

async function upload({ easel, owner, artifactId }: World, headers: Record<string, string>) {
  const reply = await easel.fetch(`/v1/data/${artifactId}/datasets/cities/upload`, {
    method: 'POST',
    token: owner.token,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ mimeType: 'text/csv' }),
  });
  return ((await reply.json()) as { data: { tokenId: string; uploadUrl: string } }).data;
}

const there = async (world: World) => {
  await stored(world);
  return {};
};

/** Rows that the newest version does not have. */
const newRows = () => `city,people\r\nBern,${Math.ceil(Math.random() * 1e9)}\r\n`;

export const datasetArrangements = {
  'datasets.list': there,
  'datasets.get': there,
  'datasets.put': () => ({ headers: CSV, body: newRows() }),
  'datasets.putUpload': async (world: World) => {
    // The store does not allow uploads from this origin, so the token is for an upload through the service.
    const { tokenId } = await upload(world, { origin: 'http://elsewhere.test' });
    return { ids: { upload: tokenId }, body: newRows() };
  },
  'datasets.confirm': async (world: World) => {
    const { tokenId, uploadUrl } = await upload(world, {});
    await fetch(uploadUrl, { method: 'PUT', body: newRows() });
    return { ids: { upload: tokenId } };
  },
  'datasets.content': async (world: World) => ({ query: { version: String(await stored(world)), format: 'csv' } }),
  'datasets.rows': there,
  'datasets.delete': there,
};
