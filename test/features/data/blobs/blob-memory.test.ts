/** The memory that the built program needs for large files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServerDatabase, databaseKinds, temporaryDir } from '../../../support/database.ts';
import { type Program, startProgram } from '../../../support/program.ts';
import { post, sha256 } from '../../../support/requests.ts';
import { PNG, pngOf, send } from './sample-files.ts';

const FILE_BYTES = 50 * 1024 * 1024;
/** The addon for Node 22 and newer reads on after a pause for as long as a sender on the same machine, as here, fills the kernel's buffer. */
const LATE_BYTES_MAX = Number(process.versions.node.split('.')[0]) >= 22 ? FILE_BYTES : 0;
const RISE_BYTES_MAX = 16 * 1024 * 1024 + LATE_BYTES_MAX;

describe.runIf(process.platform === 'linux')('a file of 50 MB', () => {
  const folder = temporaryDir();
  const file = pngOf(FILE_BYTES);
  let program: Program;
  let authorization: string;
  let blobs: string;
  let dropDatabase: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    // The embedded database runs in the same process, so its memory would be measured as well.
    const server = databaseKinds().includes('postgres') ? await createServerDatabase() : null;
    dropDatabase = server === null ? undefined : () => server.drop();
    program = await startProgram({ DATA_DIR: folder.path, ...(server !== null && { DATABASE_URL: server.url }) });
    authorization = `Bearer ${program.adminToken ?? ''}`;
    const page = { files: [{ path: 'index.html', content: '<title>A page</title>' }] };
    const published = await call('/v1/publish', post(page));
    blobs = `/v1/data/${published.artifact.id}/blobs`;
    // Warms up: code and buffers that are loaded once do not count as the cost of a file.
    for (let warm = 0; warm < 20; warm += 1) {
      await form(PNG);
      await put(PNG);
    }
  });
  afterAll(async () => {
    await program.end('SIGTERM');
    await dropDatabase?.();
    folder.remove();
  });

  // biome-ignore lint/suspicious/noExplicitAny: the expectations check the shape of the answer.
  async function call(path: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<any> {
    return (await fetch(program.baseUrl + path, { ...init, headers: { ...init.headers, authorization } })).json();
  }

  async function put(bytes: Buffer): Promise<{ id: string }> {
    const asked = await call(`${blobs}/upload`, post({ filename: 'a.png', mimeType: 'image/png' }));
    const url = `${program.baseUrl}${new URL(asked.data.uploadUrl).pathname}`;
    const reply = await send(url, 'PUT', { 'content-length': bytes.length }, [bytes]);
    expect(reply.status).toBe(201);
    return JSON.parse(reply.body.toString()).data;
  }

  async function form(bytes: Buffer): Promise<{ id: string }> {
    const head = '--edge\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n';
    const body = [Buffer.from(head), bytes, Buffer.from('\r\n--edge--\r\n')];
    const headers = {
      authorization,
      'content-type': 'multipart/form-data; boundary=edge',
      'content-length': body.reduce((sum, piece) => sum + piece.length, 0),
    };
    const reply = await send(program.baseUrl + blobs, 'POST', headers, body);
    expect(reply.status).toBe(201);
    return JSON.parse(reply.body.toString()).data;
  }

  /** The peak of resident memory during `work`, minus the resident memory before it. */
  async function riseOf<T>(work: () => Promise<T>): Promise<{ result: T; riseBytes: number }> {
    const { pid } = program.process;
    // Resets VmHWM to the current VmRSS.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const before = memory('VmRSS');
    const result = await work();
    return { result, riseBytes: memory('VmHWM') - before };
  }

  function memory(field: 'VmRSS' | 'VmHWM'): number {
    const status = readFileSync(`/proc/${program.process.pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
  }

  test.each([
    ['sent by token', put],
    ['sent in a form', form],
  ])('%s and then read raises resident memory by little more than its buffers', async (_name, upload) => {
    const sent = await riseOf(() => upload(file));
    const read = await riseOf(() => send(`${program.baseUrl}${blobs}/${sent.result.id}/content`, 'GET', { authorization }));
    expect(sha256(read.result.body)).toBe(sha256(file));
    expect(sent.riseBytes).toBeLessThanOrEqual(RISE_BYTES_MAX);
    expect(read.riseBytes).toBeLessThanOrEqual(RISE_BYTES_MAX);
  });
});
