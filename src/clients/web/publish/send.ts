/** Publishes as the command line does: digests first, then only the contents that the server does not hold. */
import { answered, api } from '../api/client.ts';
import { Problem } from '../api/problem.ts';
import { type Gathered, sizeOf } from './gather.ts';
import type { GivenFile } from './given.ts';

export interface Target {
  readonly name: string;
  readonly entrypoint: string | undefined;
  readonly artifactId?: string | undefined;
  readonly workspaceId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly isDraft: boolean;
  readonly note: string;
}

export interface Progress {
  readonly step: 'hashing' | 'sending' | 'ending';
  readonly bytesSent: number;
  readonly bytesAll: number;
}

export interface Published {
  readonly artifactId: string;
  readonly name: string;
  readonly url: string;
  readonly versionNo: number;
  readonly isHeld: boolean;
  readonly isDraft: boolean;
  readonly notice: string | undefined;
}

interface Watch {
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

const SENDERS = 4;

type Digested = GivenFile & { readonly sha256: string };

async function digest(bytes: Blob): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await bytes.arrayBuffer()));
  return [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function sendAll(uploadId: string, files: readonly Digested[], { onProgress, signal }: Watch): Promise<void> {
  const bytesAll = sizeOf(files);
  let bytesSent = 0;
  const waiting = [...files];
  const sender = async () => {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      const { sha256, bytes } = file;
      const init = { method: 'PUT', body: bytes, headers: { 'content-type': 'application/octet-stream' }, signal };
      await answered(() => fetch(`/v1/publish/uploads/${uploadId}/${sha256}`, init));
      bytesSent += bytes.size;
      onProgress({ step: 'sending', bytesSent, bytesAll });
    }
  };
  onProgress({ step: 'sending', bytesSent, bytesAll });
  await Promise.all(Array.from({ length: Math.min(SENDERS, files.length) }, sender));
}

/** Bytes as base 64, for hosts without TLS, where browsers compute no digests. */
async function base64(bytes: Blob): Promise<string> {
  const all = new Uint8Array(await bytes.arrayBuffer());
  let text = '';
  for (let at = 0; at < all.length; at += 0x8000) text += String.fromCharCode(...all.subarray(at, at + 0x8000));
  return btoa(text);
}

export async function sendFiles({ files }: Gathered, target: Target, watch: Watch): Promise<Published> {
  const { onProgress, signal } = watch;
  const isNew = target.artifactId === undefined;
  const common = {
    ...(isNew ? { name: target.name, workspace_id: target.workspaceId, folder_id: target.folderId } : { artifact_id: target.artifactId }),
    ...(target.entrypoint !== undefined && { entrypoint: target.entrypoint }),
    ...(target.note !== '' && { note: target.note }),
    draft: target.isDraft,
  };
  if (crypto.subtle === undefined) {
    const inline = await Promise.all(
      files.map(async ({ path, bytes }) => ({ path, content: await base64(bytes), encoding: 'base64' as const })),
    );
    onProgress({ step: 'ending', bytesSent: 0, bytesAll: 0 });
    return publishedFrom((await api.publish.publish({ body: { ...common, files: inline }, signal })).body, target);
  }
  const digested: Digested[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    digested.push({ ...file, sha256: await digest(file.bytes) });
  }
  const body = { ...common, files_digest: digested.map(({ path, sha256 }) => ({ path, sha256 })) };
  const begun = (await api.publish.publish({ body, signal })).body;
  if (!('missing' in begun)) return publishedFrom(begun, target);
  const missing = new Set(begun.missing);
  const sent = digested.filter(({ sha256 }) => missing.delete(sha256));
  await sendAll(begun.upload_id, sent, watch);
  onProgress({ step: 'ending', bytesSent: sizeOf(sent), bytesAll: sizeOf(sent) });
  return publishedFrom((await api.publish.publish({ body: { ...body, upload_id: begun.upload_id }, signal })).body, target);
}

type PublishBody = Awaited<ReturnType<typeof api.publish.publish>>['body'];

function publishedFrom(body: PublishBody, target: Target): Published {
  if ('missing' in body) throw new Problem({ status: 0, code: 'UPLOAD_INCOMPLETE', message: 'The server did not accept all files.' });
  return {
    artifactId: body.artifact.id,
    name: target.name,
    url: body.deployment.url,
    versionNo: body.version.version_no,
    isHeld: body.held !== undefined,
    isDraft: target.isDraft,
    notice: body.notice,
  };
}
