/** Calls that store and remove, and what an account stores, counted in the test from the rows themselves. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { TestEasel, TestUser } from '../../../support/easel.ts';
import { json, post, sha256 } from '../../../support/requests.ts';

export interface Counted {
  readonly bytes: number;
  readonly artifacts: number;
}

/** As `GET /v1/account` shows it. */
export async function shownUsage(easel: TestEasel, user: TestUser): Promise<Counted> {
  const { usage } = await json(await easel.fetch('/v1/account', { token: user.token }));
  return { bytes: usage.bytes, artifacts: usage.artifacts };
}

/** What the rows say. Reservations count until they have expired. */
export async function trueUsage({ sql, clock }: TestEasel, { userId }: TestUser): Promise<Counted> {
  const owned = await sql<{ id: string }[]>`select id from artifact where owner_id = ${userId}`;
  let bytes = 0;
  for (const { id } of owned) {
    const files = await sql<{ hex: string; size: number }[]>`
      select encode(f.sha256, 'hex') as hex, f.size_bytes as size
      from version_file f join artifact_version v on v.id = f.version_id where v.artifact_id = ${id}`;
    for (const size of new Map(files.map((file) => [file.hex, file.size])).values()) bytes += size;
    bytes += files.length * LIMITS.versionFileRecordBytes;
    for (const blob of await sql<{ size: number }[]>`select size_bytes as size from blob where artifact_id = ${id}`) bytes += blob.size;
  }
  // A content that several open uploads of an account hold counts once.
  const parts = await sql<{ hex: string; size: number }[]>`
    select distinct encode(p.sha256, 'hex') as hex, o.size_bytes as size
    from publish_upload u join publish_upload_part p on p.upload_id = u.id join stored_object o on o.sha256 = p.sha256
    where u.user_id = ${userId}`;
  for (const part of parts) bytes += part.size;
  const reserved = await sql<{ bytes: number }[]>`
    select bytes from storage_reservation where account_id = ${userId} and expires_at_ms > ${clock.nowMs()}`;
  for (const each of reserved) bytes += each.bytes;
  return { bytes, artifacts: owned.length };
}

/** Leaves an account room for this many bytes, without storing what would fill the rest. */
export async function leaveRoom(easel: TestEasel, user: TestUser, roomBytes: number, bytesMax: number): Promise<void> {
  const { bytes } = await shownUsage(easel, user);
  await easel.sql`
    insert into account_usage (account_id, bytes) values (${user.userId}, ${bytesMax - roomBytes})
    on conflict (account_id) do update set bytes = account_usage.bytes + ${bytesMax - roomBytes - bytes}`;
}

export function draft(easel: TestEasel, user: TestUser, body: object): Promise<Response> {
  return easel.fetch('/v1/publish', { token: user.token, ...post({ draft: true, ...body }) });
}

export function page(content: string) {
  return [{ path: 'index.html', content }];
}

export async function beginUpload(easel: TestEasel, user: TestUser, content: string, target: object = {}) {
  const body = { ...target, files_digest: [{ path: 'index.html', sha256: sha256(content) }] };
  const reply = await easel.fetch('/v1/publish', { token: user.token, ...post(body) });
  return { status: reply.status, body, uploadId: (await json(reply)).upload_id as string };
}

export function sendContent(easel: TestEasel, user: TestUser, uploadId: string, content: string): Promise<Response> {
  return easel.fetch(`/v1/publish/uploads/${uploadId}/${sha256(content)}`, {
    method: 'PUT',
    token: user.token,
    body: content,
    headers: { 'content-type': 'application/octet-stream' },
  });
}

export function uploadBlob(easel: TestEasel, { token }: Pick<TestUser, 'token'>, id: string, content: string): Promise<Response> {
  const form = new FormData();
  form.append('file', new Blob([content], { type: 'text/plain' }), 'file.txt');
  return easel.fetch(`/v1/data/${id}/blobs`, { method: 'POST', token, body: form });
}

export function uploadToken(easel: TestEasel, { token }: Pick<TestUser, 'token'>, id: string, size?: number): Promise<Response> {
  return easel.fetch(`/v1/data/${id}/blobs/upload`, { token, ...post({ filename: 'file.txt', mimeType: 'text/plain', size }) });
}

export function remove(easel: TestEasel, { token }: Pick<TestUser, 'token'>, path: string): Promise<Response> {
  return easel.fetch(path, { method: 'DELETE', token });
}
