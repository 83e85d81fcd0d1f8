/** Helpers to read and write documents over HTTP while a client is connected. */
import * as Y from 'yjs';
import { type Client, join } from '../../../realtime/providers.ts';
import { type Answered, callData, type DataArtifact } from '../../../support/data-client.ts';
import type { TestEasel } from '../../../support/easel.ts';

/** Null: without a token. */
type By = { readonly token: string } | null;

/** Calls an endpoint below `…/documents`. */
export function ask(
  easel: TestEasel,
  artifact: DataArtifact,
  method: string,
  path = '',
  body?: unknown,
  by: By = artifact.owner,
): Promise<Answered> {
  return callData(easel, artifact, method, `/documents${path}`, { token: by?.token, body });
}

export function write(easel: TestEasel, artifact: DataArtifact, name: string, ...ops: readonly object[]): Promise<Answered> {
  return ask(easel, artifact, 'POST', `/${name}`, { ops });
}

/** The data of a successful answer; throws for any other. */
export async function must(answer: Answered | Promise<Answered>) {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body.data;
}

/** The status of an answer, followed by its code if it is an error. */
export async function outcome(answer: Promise<Answered>): Promise<string> {
  const { status, body } = await answer;
  return body.code === undefined ? String(status) : `${status} ${body.code}`;
}

/** Fetches an answer that is not JSON: the text or the update of a document. */
export function fetchPart(easel: TestEasel, { id, owner }: DataArtifact, path: string): Promise<Response> {
  return easel.fetch(`/v1/data/${id}/documents/${path}`, { token: owner.token });
}

export async function sendUpdate(easel: TestEasel, { id, owner }: DataArtifact, name: string, update: Uint8Array): Promise<Answered> {
  const reply = await easel.fetch(`/v1/data/${id}/documents/${name}/update`, {
    method: 'POST',
    token: owner.token,
    body: new Uint8Array(update),
    headers: { 'content-type': 'application/octet-stream' },
  });
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}

/** A copy of a document, read over HTTP. */
export async function copyOf(easel: TestEasel, artifact: DataArtifact, name: string): Promise<Y.Doc> {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, new Uint8Array(await (await fetchPart(easel, artifact, `${name}/update`)).arrayBuffer()));
  return doc;
}

/** The update that `make` produces in a new document. */
export function updateOf(make: (doc: Y.Doc) => void): Uint8Array {
  const doc = new Y.Doc();
  doc.transact(() => make(doc));
  return Y.encodeStateAsUpdate(doc);
}

/** A synced client of the stock y-websocket provider. */
export async function connected({ baseUrl }: TestEasel, { id, owner }: DataArtifact, document: string): Promise<Client> {
  const client = join('y-websocket 3', { baseUrl, artifactId: id, document, token: owner.token });
  await client.until((it) => it.isSynced);
  return client;
}
