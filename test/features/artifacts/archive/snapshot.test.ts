/** An export during writes is one consistent state. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { publishArtifact } from '../../../support/data-client.ts';
import { everyDatabaseKind, temporaryDir } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { post } from '../../../support/requests.ts';

/** More than one fetch of a snapshot's cursor. */
const ROWS = 6000;

describe.each(everyDatabaseKind())('on %s', (database) => {
  let easel: TestEasel;
  let owner: TestUser;
  let id: ArtifactId;
  const folder = temporaryDir();
  beforeAll(async () => {
    easel = await startTestEasel({ database, settings: { DATA_DIR: folder.path } });
    owner = await easel.newUser('pro');
    ({ id } = await publishArtifact(easel, owner));
    await batch([
      { method: 'PUT', path: '/json/n', body: 0 },
      { method: 'POST', path: '/tables/first', body: { n: 0 } },
      { method: 'POST', path: '/tables/last', body: { n: 0 } },
    ]);
    for (let from = 0; from < ROWS; from += 500) {
      const rows = Array.from({ length: 500 }, (_, n) => ({ n: from + n, text: 'x'.repeat(400) }));
      expect((await easel.fetch(`/v1/data/${id}/tables/many`, { token: owner.token, ...post({ rows }) })).status).toBe(201);
    }
  });
  afterAll(async () => {
    await easel.close();
    folder.remove();
  });

  async function batch(requests: readonly object[]): Promise<void> {
    const reply = await easel.fetch(`/v1/data/${id}/batch`, { token: owner.token, ...post({ requests, atomic: true }) });
    if (!reply.ok) throw new Error(`answered ${reply.status}: ${await reply.text()}`);
  }

  async function exported(): Promise<Record<string, string>> {
    const reply = await easel.fetch(`/v1/artifacts/${id}/export`, { token: owner.token });
    const entries = unzipSync(Buffer.from(await reply.arrayBuffer()));
    return Object.fromEntries(Object.entries(entries).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]));
  }

  const lines = (text = '') => text.split('\n').filter((line) => line !== '');

  test('keys and tables that change together are exported together', async () => {
    let stop = false;
    let written = 0;
    const writing = (async () => {
      while (!stop) {
        written += 1;
        easel.clock.advance(1000);
        await batch([
          { method: 'PUT', path: '/json/n', body: written },
          { method: 'POST', path: '/tables/first', body: { n: written } },
          { method: 'POST', path: '/tables/last', body: { n: written } },
        ]);
      }
    })();
    const before = written;
    const zips = [await exported(), await exported(), ...(await Promise.all([exported(), exported(), exported()]))];
    stop = true;
    await writing;
    // The writer was not blocked by the exports.
    expect(written).toBeGreaterThan(before + zips.length);
    for (const zip of zips) {
      const n = Number(zip['data/json/n.json']);
      for (const table of ['first', 'last']) {
        const numbers = lines(zip[`data/tables/${table}.ndjson`]).map((line) => JSON.parse(line).n);
        expect([table, numbers]).toEqual([table, Array.from({ length: n + 1 }, (_, index) => index)]);
        expect(lines(zip[`data/tables/${table}.csv`]).length).toBe(n + 2);
      }
      expect(lines(zip['data/tables/many.ndjson']).map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: ROWS }, (_, n) => n));
      expect(lines(zip['data/tables/many.csv']).length).toBe(ROWS + 1);
    }
  });

  test('leaves nothing on disk or in the database after a download, an aborted download or a HEAD', async () => {
    await exported();
    const url = `/v1/artifacts/${id}/export`;
    expect((await easel.fetch(url, { method: 'HEAD', token: owner.token })).status).toBe(200);
    const abort = new AbortController();
    const reader = (await easel.fetch(url, { token: owner.token, signal: abort.signal })).body?.getReader();
    await reader?.read();
    abort.abort();
    await expect.poll(() => readdir(join(folder.path, 'objects', 'incoming'))).toEqual([]);
    // The same session on the embedded database; on a server cursors end with theirs, and each connection of the pool is asked.
    const held = await Promise.all(Array.from({ length: 8 }, () => easel.sql`select name from pg_cursors where is_holdable`));
    expect(held.flat()).toEqual([]);
  });
});
