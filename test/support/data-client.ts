/** Publishes artifacts and calls their data, for the tests of `/v1/data`. */
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { TestEasel, TestUser } from './easel.ts';

export interface DataArtifact {
  readonly id: ArtifactId;
  readonly slug: string;
  readonly owner: TestUser;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what the answer holds.
  readonly body: any;
}

export async function publishArtifact(
  easel: TestEasel,
  owner: TestUser,
  settings: { readonly visibility?: 'public' | 'private'; readonly allowAnonWrite?: boolean } = {},
): Promise<DataArtifact> {
  const body = {
    name: 'Data',
    visibility: settings.visibility ?? 'private',
    files: [{ path: 'index.html', content: '<p>data</p>', mime: 'text/html', encoding: 'utf8' }],
  };
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' }, token: owner.token };
  const published = (await (await easel.fetch('/v1/publish', init)).json()) as {
    artifact: { id: ArtifactId };
    deployment: { slug: string };
  };
  if (settings.allowAnonWrite) await easel.sql`update artifact set allow_anon_write = true where id = ${published.artifact.id}`;
  return { id: published.artifact.id, slug: published.deployment.slug, owner };
}

/** Calls below `/v1/data/{id}`; a `body` becomes JSON. */
export async function callData(
  easel: TestEasel,
  artifact: Pick<DataArtifact, 'id'>,
  method: string,
  path: string,
  given: { readonly token?: string | undefined; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answered> {
  const headers = { ...(given.body !== undefined && { 'content-type': 'application/json' }), ...given.headers };
  const reply = await easel.fetch(`/v1/data/${artifact.id}${path}`, {
    method,
    headers,
    ...(given.token !== undefined && { token: given.token }),
    ...(given.body !== undefined && { body: JSON.stringify(given.body) }),
  });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, body: text === '' ? undefined : JSON.parse(text) };
}
