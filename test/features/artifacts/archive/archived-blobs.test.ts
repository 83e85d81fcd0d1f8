/** Blobs through export and import. */
import { unzipSync, type Zippable, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, published, refusal, sha256 } from '../../../support/requests.ts';
import { GIF, HTML, PNG, pngOf } from '../../data/blobs/sample-files.ts';

const FILES = [
  { name: 'large.png', type: 'image/png', bytes: pngOf(3_000_001) },
  { name: 'Größe.gif', type: 'image/gif', bytes: GIF },
  // The same bytes again are one entry.
  { name: 'again.gif', type: 'image/gif', bytes: GIF },
  { name: 'empty.txt', type: 'text/plain', bytes: Buffer.alloc(0) },
];

let easel: TestEasel;
let user: TestUser;
let zip: Buffer;
let id: string;
beforeAll(async () => {
  easel = await startTestEasel();
  user = await easel.newUser();
  ({ id } = await published(easel, user));
  for (const { name, type, bytes } of FILES) {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(bytes)], { type }), name);
    expect((await easel.fetch(`/v1/data/${id}/blobs`, { method: 'POST', token: user.token, body: form })).status).toBe(201);
  }
  const reply = await easel.fetch(`/v1/artifacts/${id}/export`, { token: user.token });
  zip = Buffer.from(await reply.arrayBuffer());
});
afterAll(() => easel.close());

function imported(where: TestEasel, who: TestUser, bytes: Uint8Array): Promise<Response> {
  const headers = { 'content-type': 'application/zip' };
  return where.fetch('/v1/artifacts/import', { token: who.token, method: 'POST', body: Buffer.from(bytes), headers });
}

async function listed(where: TestEasel, who: TestUser, artifactId: string) {
  const { data } = await json(await where.fetch(`/v1/data/${artifactId}/blobs`, { token: who.token }));
  return data.blobs.map(({ contentUrl: _, ...blob }: { contentUrl: string }) => blob);
}

test('are restored byte for byte on another installation, which takes further blobs', async () => {
  const elsewhere = await startTestEasel({ database: 'embedded' });
  try {
    const owner = await elsewhere.newUser();
    const reply = await imported(elsewhere, owner, zip);
    const answer = await json(reply);
    expect([reply.status, answer.code]).toEqual([201, undefined]);
    const blobs = await listed(elsewhere, owner, answer.artifact.id);
    expect(blobs).toEqual(await listed(easel, user, id));
    for (const [index, { bytes }] of FILES.entries()) {
      const path = `/v1/data/${answer.artifact.id}/blobs/${blobs[index].id}/content`;
      const content = await elsewhere.fetch(path, { token: owner.token });
      expect(sha256(new Uint8Array(await content.arrayBuffer()))).toBe(sha256(bytes));
    }
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(PNG)], { type: 'image/png' }), 'new.png');
    const next = await elsewhere.fetch(`/v1/data/${answer.artifact.id}/blobs`, { method: 'POST', token: owner.token, body: form });
    expect(next.status).toBe(201);
  } finally {
    await elsewhere.close();
  }
});

test('blobs with the same bytes share an entry', () => {
  expect(
    Object.keys(unzipSync(zip))
      .filter((name) => name.startsWith('data/blobs/'))
      .sort(),
  ).toEqual([...new Set(FILES.map(({ bytes }) => `data/blobs/${sha256(bytes)}`))].sort());
});

describe('an archive that contradicts its manifest is refused, naming the entry', () => {
  const refused = (change: (blobs: Record<string, unknown>[]) => unknown, entries: Zippable = {}) => {
    const good = unzipSync(zip);
    const manifest = JSON.parse(Buffer.from(good['manifest.json'] ?? '').toString());
    change(manifest.blobs);
    return refusal(imported(easel, user, zipSync({ ...good, ...entries, 'manifest.json': Buffer.from(JSON.stringify(manifest)) })));
  };
  const entry = `data/blobs/${sha256(GIF)}`;
  const html = { mime: 'image/png', sha256: sha256(HTML), size_bytes: HTML.length };

  test('other bytes', async () => {
    const other = Buffer.from(GIF);
    other[other.length - 2] = 1;
    expect(await refused(() => undefined, { [entry]: other })).toEqual([400, 'INVALID_REQUEST', entry]);
  });

  test('another size', async () => {
    expect(await refused((blobs) => Object.assign(blobs[1] ?? {}, { size_bytes: 5 }))).toEqual([400, 'INVALID_REQUEST', entry]);
  });

  test('bytes that are not of the type, or a type that is not taken', async () => {
    const page = `data/blobs/${sha256(HTML)}`;
    const asPicture = refused((blobs) => Object.assign(blobs[1] ?? {}, html), { [page]: HTML });
    expect(await asPicture).toEqual([400, 'INVALID_MIME_TYPE', page]);
    const asPage = refused((blobs) => Object.assign(blobs[1] ?? {}, { ...html, mime: 'text/html' }), { [page]: HTML });
    expect(await asPage).toEqual([400, 'INVALID_MIME_TYPE', page]);
  });

  test('one blob twice, too many, too large together', async () => {
    expect(await refused((blobs) => blobs.push(blobs[0] ?? {}))).toEqual([400, 'INVALID_REQUEST', 'manifest.json']);
    const many = (blobs: Record<string, unknown>[]) => {
      for (let made = 0; made < 1000; made += 1) blobs.push({ ...blobs[1], id: `blob_${sha256(String(made)).slice(0, 24)}` });
    };
    expect(await refused(many)).toEqual([413, 'BLOB_LIMIT_EXCEEDED', 'manifest.json']);
    const heavy = (blobs: Record<string, unknown>[]) => Object.assign(blobs[1] ?? {}, { size_bytes: 500 * 1024 * 1024 });
    expect(await refused(heavy)).toEqual([413, 'STORAGE_LIMIT_EXCEEDED', 'manifest.json']);
  });
});
