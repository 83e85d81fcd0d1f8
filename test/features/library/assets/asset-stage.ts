/** What the tests of asset libraries do again and again. */
import type { Pictured } from '../../../../src/features/library/assets/thumbnails/queue.ts';
import type { TestEasel, TestUser } from '../../../support/easel.ts';
import { json, post } from '../../../support/requests.ts';

export type By = Pick<TestUser, 'token'>;
export const MINE = '/v1/assets';

export function upload(easel: TestEasel, by: By, content: string | Buffer, given: { base?: string; name?: string; type?: string } = {}) {
  const { base = MINE, name = 'note.txt', type = 'text/plain' } = given;
  const form = new FormData();
  form.append('file', new Blob([typeof content === 'string' ? content : new Uint8Array(content)], { type }), name);
  return easel.fetch(`${base}/upload`, { method: 'POST', token: by.token, body: form });
}

/** Uploads and makes a deliverable of it. */
export async function delivered(easel: TestEasel, by: By, content: string | Buffer, given: Parameters<typeof upload>[3] = {}) {
  const { base = MINE, name = 'note.txt' } = given;
  const loose = await json(await upload(easel, by, content, given));
  const made = await easel.fetch(`${base}/deliverables`, { token: by.token, ...post({ blobId: loose.id, name }) });
  if (made.status !== 201) throw new Error(`the deliverable was not made: ${await made.text()}`);
  return json(made);
}

export async function link(easel: TestEasel, by: By, fileId: string, body: object = {}, base = MINE) {
  const made = await easel.fetch(`${base}/${fileId}/links`, { token: by.token, ...post(body) });
  if (made.status !== 201) throw new Error(`the link was not made: ${await made.text()}`);
  const answer = await json(made);
  const path = new URL(answer.url).pathname;
  return { ...answer, path, secret: path.slice('/s/'.length) } as { id: string; url: string; path: string; secret: string };
}

/** A file that is to be pictured, as the queue gives it. */
export function pictured(bytes: Buffer, mimeType: string): Pictured {
  return {
    mimeType,
    sizeBytes: bytes.length,
    async *bytes(start, end) {
      // Through one buffer, as the stores do.
      const buffer = Buffer.alloc(100_000);
      for (let at = start; at <= end; at += buffer.length) {
        yield buffer.subarray(0, bytes.copy(buffer, 0, at, Math.min(at + buffer.length, end + 1)));
      }
    },
  };
}
