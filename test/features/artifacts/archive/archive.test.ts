import { type Unzipped, unzipSync, type Zippable, zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { artifact, json, published, refusal, sha256 } from '../../../support/requests.ts';

let easel: TestEasel;
let user: TestUser;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());
beforeEach(async () => {
  user = await easel.newUser();
});

const INNER_ZIP = zipSync({ 'a.txt': [Buffer.from('zip in zip'), { level: 0 }] });
const FILES: Readonly<Record<string, Uint8Array>> = {
  'index.html': Buffer.from('<title>Rich</title>'),
  'ordner/日本 語.txt': Buffer.from('Grüße\r\n'),
  'inner.zip': INNER_ZIP,
  'zeros.bin': new Uint8Array(6 * 1024 * 1024),
  'empty.css': new Uint8Array(0),
};
const VALUES: Readonly<Record<string, string>> = {
  state: '{"b":1,"a":[1.50,"\\u00e9é"],"deep":{"x":null}}',
  '_settings.v1': '"text"',
  soon: '42',
};

async function exported(where: TestEasel, who: TestUser, id: string): Promise<Buffer> {
  const reply = await where.fetch(`/v1/artifacts/${id}/export`, { token: who.token });
  if (reply.status !== 200) throw new Error(`export answered ${reply.status}`);
  return Buffer.from(await reply.arrayBuffer());
}

function imported(where: TestEasel, who: TestUser, zip: Uint8Array, query = ''): Promise<Response> {
  const headers = { 'content-type': 'application/zip' };
  return where.fetch(`/v1/artifacts/import${query}`, { token: who.token, method: 'POST', body: Buffer.from(zip), headers });
}

async function rich(): Promise<string> {
  const files = Object.entries(FILES).map(([path, bytes]) => ({
    path,
    content: Buffer.from(bytes).toString('base64'),
    encoding: 'base64',
  }));
  const { id } = await published(easel, user, { slug: `rich-${user.userId.slice(-6)}`, files, label: 'first' });
  for (const [key, body] of Object.entries(VALUES)) {
    const ttl = key === 'soon' ? '?ttl=3600' : '';
    const headers = { 'content-type': 'application/json' };
    const reply = await easel.fetch(`/v1/data/${id}/json/${key}${ttl}`, { token: user.token, method: 'PUT', body, headers });
    if (!reply.ok) throw new Error(`put answered ${reply.status}`);
  }
  return id;
}

async function stored(where: TestEasel, id: string) {
  return {
    files: await where.sql`
      select f.path, f.mime, f.size_bytes, encode(f.sha256, 'hex') as sha256 from version_file f
      join artifact a on a.live_version_id = f.version_id where a.id = ${id} order by f.path`,
    keys: await where.sql`
      select key, value, created_at_ms, updated_at_ms, expires_at_ms from json_key where artifact_id = ${id} order by key`,
  };
}

describe('export', () => {
  test('is a zip of the live files and all acknowledged data', async () => {
    const id = await rich();
    const reply = await easel.fetch(`/v1/artifacts/${id}/export`, { token: user.token });
    expect(reply.headers.get('content-type')).toBe('application/zip');
    expect(reply.headers.get('content-disposition')).toMatch(/^attachment; filename="rich-[a-z0-9]{6}\.zip"$/);
    const entries = unzipSync(Buffer.from(await reply.arrayBuffer()));
    for (const [path, bytes] of Object.entries(FILES)) expect(sha256(entries[`files/${path}`] ?? '')).toBe(sha256(bytes));
    expect(
      Object.keys(entries)
        .filter((name) => name.startsWith('data/json/'))
        .sort(),
    ).toEqual(
      Object.keys(VALUES)
        .map((key) => `data/json/${key}.json`)
        .sort(),
    );
    expect(JSON.parse(Buffer.from(entries['data/json/state.json'] ?? '').toString())).toEqual(JSON.parse(VALUES.state ?? ''));
    expect(JSON.parse(Buffer.from(entries['manifest.json'] ?? '').toString())).toMatchObject({
      format_version: 1,
      entrypoint: 'index.html',
    });
  });

  test('is for the owner alone', async () => {
    const { id } = await published(easel, user);
    const editor = await easel.newUser();
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${id}, ${editor.userId}, 'editor', 0)`;
    const get = (who: TestUser) => easel.fetch(`/v1/artifacts/${id}/export`, { token: who.token });
    expect(await refusal(get(editor))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(get(await easel.newUser()))).toEqual([404, 'ARTIFACT_NOT_FOUND', undefined]);
  });
});

describe('import', () => {
  test('restores files and data byte for byte, on another installation too', async () => {
    const id = await rich();
    const zip = await exported(easel, user, id);
    const elsewhere = await startTestEasel({ database: 'embedded' });
    try {
      const owner = await elsewhere.newUser();
      const reply = await imported(elsewhere, owner, zip);
      expect(reply.status).toBe(201);
      const answer = await json(reply);
      expect(await stored(elsewhere, answer.artifact.id)).toEqual(await stored(easel, id));
      expect(await artifact(elsewhere, owner, answer.artifact.id)).toMatchObject({
        name: 'Rich',
        owner_id: owner.userId,
        live_version_no: 1,
      });
      const value = await elsewhere.fetch(`/v1/data/${answer.artifact.id}/json/state`, { token: owner.token });
      expect((await json(value)).data.value).toEqual(JSON.parse(VALUES.state ?? ''));
      const headers = { 'content-type': 'application/json' };
      const put = { token: owner.token, method: 'PUT', body: '1', headers };
      expect((await elsewhere.fetch(`/v1/data/${answer.artifact.id}/json/state`, put)).status).toBe(200);
    } finally {
      await elsewhere.close();
    }
  });

  test('beside the original the copy gets another slug; a requested slug must be free', async () => {
    const { id, slug } = await published(easel, user, { slug: 'original' });
    const zip = await exported(easel, user, id);
    const copy = await json(await imported(easel, user, zip, '?name=The%20copy'));
    expect(copy.deployment.slug).toMatch(/^original-[a-z2-7]{4}$/);
    expect(await artifact(easel, user, copy.artifact.id)).toMatchObject({ name: 'The copy' });
    expect(await refusal(imported(easel, user, zip, `?slug=${slug}`))).toEqual([409, 'SLUG_TAKEN', 'slug']);
    expect(await refusal(imported(easel, user, zip, '?slug=www'))).toEqual([400, 'INVALID_SLUG', 'slug']);
    expect((await json(await imported(easel, user, zip, '?slug=my-copy'))).deployment.slug).toBe('my-copy');
  });

  test('leaves out expired keys, holds public, spends a publish', async () => {
    const payer = await easel.newUser('pro');
    const { id } = await published(easel, payer, { visibility: 'public' });
    const put = { token: payer.token, method: 'PUT', body: '1', headers: { 'content-type': 'application/json' } };
    await easel.fetch(`/v1/data/${id}/json/brief?ttl=60`, put);
    const zip = await exported(easel, payer, id);
    easel.clock.advance(60_000);
    const reply = await imported(easel, user, zip);
    const answer = await json(reply);
    expect([reply.status, answer.code, reply.headers.get('ratelimit')]).toEqual([202, 'VISIBILITY_HELD', '"publish";r=59;t=3600']);
    expect((await stored(easel, answer.artifact.id)).keys).toEqual([]);
  });
});

describe('a hostile or damaged zip is refused, naming the entry', () => {
  let good: Unzipped;
  beforeAll(async () => {
    user = await easel.newUser();
    good = unzipSync(await exported(easel, user, await rich()));
  });

  const parsed = () => JSON.parse(Buffer.from(good['manifest.json'] ?? '').toString());
  const withManifest = (change: (manifest: Record<string, never>) => void, entries: Zippable = {}) => {
    const manifest = parsed();
    change(manifest);
    return zipSync({ ...good, ...entries, 'manifest.json': Buffer.from(JSON.stringify(manifest)) });
  };
  const oneFile = (bytes: Uint8Array) => (manifest: Record<string, unknown>) => {
    manifest.files = [{ path: 'index.html', mime: 'text/html', sha256: sha256(bytes) }];
  };
  const oneKey = (bytes: Uint8Array) => (manifest: Record<string, unknown>) => {
    manifest.json_keys = [{ key: 'k', sha256: sha256(bytes), created_at_ms: 1, updated_at_ms: 1, expires_at_ms: null }];
  };
  const refused = (zip: Uint8Array) => refusal(imported(easel, user, zip));
  const zeros = (megabytes: number) => new Uint8Array(megabytes * 1024 * 1024);

  test('a file that is no zip', async () => {
    expect(await refused(Buffer.from('not a zip at all, but long enough to look for its end'))).toEqual([400, 'INVALID_REQUEST', 'zip']);
    expect(await refused(zipSync(good).subarray(0, -100))).toEqual([400, 'INVALID_REQUEST', 'zip']);
  });

  test('a missing or invalid manifest', async () => {
    expect(await refused(zipSync({ 'index.html': new Uint8Array(1) }))).toEqual([400, 'INVALID_REQUEST', 'manifest.json']);
    expect(await refused(zipSync({ ...good, 'manifest.json': Buffer.from('{') }))).toEqual([400, 'INVALID_REQUEST', 'manifest.json']);
    const future = withManifest((manifest) => Object.assign(manifest, { format_version: 2 }));
    expect(await refused(future)).toEqual([400, 'INVALID_REQUEST', 'manifest.json']);
    const script = withManifest((manifest) => Object.assign(manifest, { social_image_url: 'javascript:alert(1)' }));
    expect(await refused(script)).toEqual([400, 'INVALID_REQUEST', 'manifest.json']);
  });

  test('an entry that is missing, changed or named outside the archive', async () => {
    const { 'files/inner.zip': _, ...without } = good;
    expect(await refused(zipSync(without))).toEqual([400, 'INVALID_REQUEST', 'files/inner.zip']);
    expect(await refused(zipSync({ ...good, 'files/index.html': Buffer.from('forged') }))).toEqual([
      400,
      'INVALID_REQUEST',
      'files/index.html',
    ]);
    expect(await refused(zipSync({ ...good, '../evil': Buffer.from('x') }))).toEqual([400, 'INVALID_REQUEST', 'zip']);
    const climbing = withManifest((manifest: Record<string, unknown>) => {
      manifest.files = [{ path: 'a/%2e%2e/b', mime: 'text/html', sha256: sha256('x') }];
    });
    expect(await refused(climbing)).toEqual([400, 'INVALID_REQUEST', 'files.0.path']);
    const noEntry = withManifest((manifest) => Object.assign(manifest, { entrypoint: 'nowhere.html' }));
    expect(await refused(noEntry)).toEqual([400, 'INVALID_REQUEST', 'entrypoint']);
  });

  test('a zip bomb: by ratio, by size, and with false sizes in its headers', async () => {
    const twins = (manifest: Record<string, unknown>) => {
      manifest.files = ['a', 'b'].map((path) => ({ path, mime: 'text/html', sha256: sha256(zeros(20)) }));
    };
    const byRatio = withManifest(twins, { 'files/a': zeros(20), 'files/b': zeros(20), 'files/inner.zip': new Uint8Array(0) });
    expect(await refused(byRatio)).toEqual([400, 'INVALID_REQUEST', 'files/b']);
    const bySize = withManifest(oneFile(zeros(26)), { 'files/index.html': [zeros(26), { level: 0 }] });
    expect(await refused(bySize)).toEqual([413, 'FILE_TOO_LARGE', 'files/index.html']);
    const lying = Buffer.from(withManifest(oneFile(Buffer.from('small')), { 'files/index.html': zeros(20) }));
    // The uncompressed size in the central directory: 22 bytes before the name, APPNOTE.txt §4.3.12.
    const nameAt = lying.lastIndexOf('files/index.html');
    expect(lying.readUInt32LE(nameAt - 22)).toBe(zeros(20).length);
    lying.writeUInt32LE(5, nameAt - 22);
    expect(await refused(lying)).toEqual([400, 'INVALID_REQUEST', 'files/index.html']);
  });

  test('more entries, keys or bytes than the limits allow', async () => {
    const crowd = Object.fromEntries(Array.from({ length: 4001 }, (_, index) => [`x${index}`, new Uint8Array(0)]));
    expect(await refused(zipSync({ ...good, ...crowd }))).toEqual([400, 'INVALID_REQUEST', 'zip']);
    const keys = Array.from({ length: 1001 }, (_, index) => ({
      key: `k${index}`,
      sha256: sha256('1'),
      created_at_ms: 1,
      updated_at_ms: 1,
      expires_at_ms: null,
    }));
    const tooMany = withManifest((manifest) => Object.assign(manifest, { json_keys: keys }));
    expect(await refused(tooMany)).toEqual([413, 'KEY_LIMIT_EXCEEDED', 'manifest.json']);
    const large = Buffer.from(JSON.stringify('x'.repeat(1024 * 1024)));
    const tooLarge = withManifest(oneKey(large), { 'data/json/k.json': [large, { level: 0 }] });
    expect(await refused(tooLarge)).toEqual([413, 'VALUE_TOO_LARGE', 'data/json/k.json']);
  });

  test('a value that is no JSON, or has a member twice', async () => {
    for (const text of ['{"a":1,"a":2}', 'nope', '"']) {
      const zip = withManifest(oneKey(Buffer.from(text)), { 'data/json/k.json': Buffer.from(text) });
      expect(await refused(zip)).toEqual([400, 'INVALID_REQUEST', 'data/json/k.json']);
    }
  });
});
