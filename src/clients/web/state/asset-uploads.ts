/**
 * Uploads of files into a library. They go on while another screen is shown, by themselves after a lost connection, and where they stopped when the
 * same file is chosen again in another tab or later.
 */
import { signal } from '@preact/signals';
import { isPassingStatus, type PieceCalls, type Upload as Sent, sendInPieces } from '../../sdk/pieces.ts';
import { api, freshKey, problemIn } from '../api/client.ts';
import { Problem, problemOf } from '../api/problem.ts';
import { addVersion, keyOf, makeDeliverable } from './assets.ts';
import { putInto } from './collections.ts';
import { changed } from './store.ts';

export interface Upload {
  readonly key: number;
  readonly of: string;
  readonly name: string;
  /** From 0 to 1. */
  readonly share: number;
  /** For the connection, or for the next attempt. */
  readonly isWaiting?: boolean;
  readonly problem?: Problem;
}

/** What becomes of the file: the newest version of another, or a new one, which may be put into a collection. */
export interface Into {
  readonly fileId?: string;
  readonly collectionId?: string | undefined;
}

interface Job {
  readonly key: number;
  readonly file: File;
  readonly slug: string | undefined;
  readonly into: Into;
  readonly abort: AbortController;
  /** Of the upload at the service, once it has begun. */
  uploadId?: string | undefined;
  /** What has been reached, so that another attempt begins there: the stored file, and what was made of it. */
  blobId?: string | undefined;
  deliverableId?: string;
  /** Of the call that takes the stored file: its answer may be lost, and a file can be taken once. */
  takingKey?: string | undefined;
}

/** A larger file is refused, so it is not read for its digest. */
const HASHED_BYTES_MAX = 64 * 1024 * 1024;
/** A connection that takes nothing for so long is lost, whatever the browser believes. */
const SILENCE_MS_MAX = 45_000;

/** Those under way, and those that have failed until they are put aside. */
export const uploads = signal<readonly Upload[]>([]);
const jobs = new Map<number, Job>();
let last = 0;
/** One after the other, so that each gets the whole connection. */
let turn: Promise<void> = Promise.resolve();

function note(key: number, change: Partial<Upload>): void {
  uploads.value = uploads.value.map((one) => (one.key === key ? { ...one, ...change } : one));
}

/** Ends an upload that is under way, with what has arrived of it, or removes a failed one from the list. */
export function putAside(key: number): void {
  const job = jobs.get(key);
  jobs.delete(key);
  uploads.value = uploads.value.filter((one) => one.key !== key);
  if (job === undefined) return;
  job.abort.abort(new DOMException('put aside', 'AbortError'));
  if (job.uploadId !== undefined) void cancel(job, job.uploadId);
}

async function cancel({ slug }: Job, uploadId: string): Promise<void> {
  try {
    if (slug === undefined) await api.assets.cancelUpload({ params: { uploadId } });
    else await api.workspaceAssets.cancelUpload({ params: { workspaceId: slug, uploadId } });
  } catch (error) {
    console.debug('the upload ends by itself', error);
  }
}

export function upload(slug: string | undefined, files: readonly File[], into: Into = {}): void {
  for (const file of files) {
    last += 1;
    uploads.value = [...uploads.value, { key: last, of: keyOf(slug), name: file.name, share: 0 }];
    begin({ key: last, file, slug, into, abort: new AbortController() });
  }
}

/** Goes on with one that has failed, at the bytes that have arrived. */
export function tryAgain(key: number): void {
  const job = jobs.get(key);
  if (job === undefined) return;
  uploads.value = uploads.value.map((one) => (one.key === key ? { key, of: one.of, name: one.name, share: one.share } : one));
  begin(job);
}

function begin(job: Job): void {
  jobs.set(job.key, job);
  turn = turn.then(() => run(job));
}

async function run(job: Job): Promise<void> {
  const { key, file, slug, into, abort } = job;
  if (abort.signal.aborted) return;
  try {
    if (job.blobId === undefined) {
      const calls = callsFor(job, await digestOf(file));
      const sent = await sendInPieces(file.size, calls, (offset) => note(key, { share: shareOf(offset, file), isWaiting: false }));
      job.blobId = sent.id;
    }
    await settle(job, job.blobId);
    jobs.delete(key);
    putAside(key);
  } catch (error) {
    if (!abort.signal.aborted) note(key, { problem: problemOf(error), isWaiting: false });
  }
  changed(keyOf(slug), ...(into.fileId === undefined ? [] : [`asset:${into.fileId}`]));
}

async function settle(job: Job, blobId: string): Promise<void> {
  const { slug, into, abort } = job;
  const { fileId, collectionId } = into;
  abort.signal.throwIfAborted();
  if (fileId !== undefined) return take(job, (key) => addVersion(slug, fileId, blobId, key));
  job.deliverableId ??= (await take(job, (key) => makeDeliverable(slug, blobId, key))).id;
  abort.signal.throwIfAborted();
  if (collectionId !== undefined) await putInto(slug, collectionId, job.deliverableId);
}

/** `call` is repeated under its key only where its outcome is unknown, as a refusal would be replayed. */
async function take<T>(job: Job, call: (key: string) => Promise<T>): Promise<T> {
  job.takingKey ??= freshKey();
  try {
    return await call(job.takingKey);
  } catch (error) {
    if (error instanceof Problem && error.status >= 400 && error.status < 500 && error.code !== 'IDEMPOTENCY_IN_PROGRESS') {
      job.takingKey = undefined;
      // The stored file may have been deleted, and is sent again then.
      if (error.isMissing) job.blobId = undefined;
    }
    throw error;
  }
}

function shareOf(bytes: number, { size }: File): number {
  return size === 0 ? 0 : Math.min(1, bytes / size);
}

/** By it the service knows the file again. Browsers have it only on secure origins. */
async function digestOf(file: File): Promise<string | undefined> {
  if (globalThis.crypto.subtle === undefined || file.size > HASHED_BYTES_MAX) return undefined;
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function callsFor(job: Job, sha256: string | undefined): PieceCalls {
  const { key, file, slug } = job;
  const { signal } = job.abort;
  const body = { filename: file.name, mimeType: file.type || 'application/octet-stream', sizeBytes: file.size, sha256 };
  const params = { workspaceId: slug ?? '' };
  const path = slug === undefined ? '/v1/assets/uploads' : `/v1/workspaces/${encodeURIComponent(slug)}/assets/uploads`;
  async function get(id: string): Promise<Sent> {
    signal.throwIfAborted();
    const input = { params: { ...params, uploadId: id } };
    return (await (slug === undefined ? api.assets.getUpload(input) : api.workspaceAssets.getUpload(input))).body;
  }
  return {
    async begin() {
      signal.throwIfAborted();
      // Of an earlier attempt: without a digest the service would begin another one.
      const known = job.uploadId === undefined ? undefined : await get(job.uploadId).catch(undefinedIfMissing);
      signal.throwIfAborted();
      if (known !== undefined) return known;
      const begun = await (slug === undefined ? api.assets.beginUpload({ body }) : api.workspaceAssets.beginUpload({ params, body }));
      job.uploadId = begun.body.id;
      if (signal.aborted) await cancel(job, begun.body.id);
      signal.throwIfAborted();
      return begun.body;
    },
    get,
    send: (id, start, end) =>
      sendPiece(`${path}/${id}?offset=${start}`, file.slice(start, end), signal, (loaded) =>
        note(key, { share: shareOf(start + loaded, file) }),
      ),
    isPassing: (error) => !signal.aborted && error instanceof Problem && isPassingStatus(error.status, error.code),
    async wait(ms) {
      note(key, { isWaiting: true });
      await pause(ms, signal);
      note(key, { isWaiting: false });
    },
  };
}

function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof Problem && error.isMissing)) throw error;
}

/** Until the time has passed or the network is back. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const end = () => {
      clearTimeout(timer);
      over.abort();
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    for (const [target, name] of [
      [globalThis, 'online'],
      [signal, 'abort'],
    ] as const) {
      target.addEventListener(name, end, { once: true, signal: over.signal });
    }
  });
}

/** `fetch` does not tell how much of a body was sent. */
function sendPiece(url: string, piece: Blob, signal: AbortSignal, onProgress: (bytes: number) => void): Promise<Sent> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    const lost = () => reject(new Problem({ status: 0, code: 'OFFLINE', message: 'Easel does not answer.' }));
    let silence = setTimeout(() => request.abort(), SILENCE_MS_MAX);
    const stop = () => request.abort();
    signal.addEventListener('abort', stop, { once: true });
    request.open('PATCH', url);
    request.setRequestHeader('accept', 'application/json');
    request.setRequestHeader('content-type', 'application/offset+octet-stream');
    request.upload.onprogress = ({ loaded }) => {
      clearTimeout(silence);
      silence = setTimeout(() => request.abort(), SILENCE_MS_MAX);
      onProgress(loaded);
    };
    request.onerror = lost;
    request.onabort = () => (signal.aborted ? reject(signal.reason) : lost());
    request.onloadend = () => {
      clearTimeout(silence);
      signal.removeEventListener('abort', stop);
    };
    request.onload = () => {
      if (request.status === 200) resolve(JSON.parse(request.responseText) as Sent);
      else void problemIn(new Response(request.responseText, { status: request.status })).then(reject);
    };
    request.send(piece);
  });
}
