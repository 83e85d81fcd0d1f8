/** Objects in a bucket of any S3-compatible store. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { Client } from 'minio';
import type { Settings } from '../platform/config.ts';
import { assertDigest, checkDigest, type DirectObjects, ObjectMissing, type ObjectStore } from './objects.ts';

/** Ends the request itself; whoever waits for it has been answered by then (`timed-objects.ts`). */
const DEADLINE_MS = 20_000;
/** The check at start transfers no data, so it can fail early and report the problem soon. */
const READY_DEADLINE_MS = 10_000;

/** A probe that is given up ends its request with it, so that the next one begins on a new connection. */
const PROBE_DEADLINE_MS = 3000;

/** For an address that our own next request uses. */
const OWN_URL_TTL_S = 300;

type S3Settings = Pick<Settings, 'S3_BUCKET' | 'S3_ACCESS_KEY' | 'S3_SECRET_KEY' | 'S3_REGION' | 'S3_PUBLIC_ENDPOINT'> & {
  readonly S3_ENDPOINT: string;
};

export function s3Objects(settings: S3Settings): ObjectStore {
  const client = clientOf(settings, settings.S3_ENDPOINT);
  const bucket = settings.S3_BUCKET;
  const nameOf = (sha256: string) => {
    assertDigest(sha256);
    return `objects/${sha256}`;
  };
  const has = async (name: string) => {
    try {
      await client.statObject(bucket, name);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  };

  return {
    async put(sha256, bytes) {
      const name = nameOf(sha256);
      checkDigest(sha256, bytes);
      const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      await inTime(has(name).then((there) => (there ? undefined : client.putObject(bucket, name, body))));
    },

    async putFile(sha256, path, sizeBytes) {
      const name = nameOf(sha256);
      const { size } = await stat(path);
      if (size !== sizeBytes) throw new Error(`${path} has ${size} bytes, not ${sizeBytes}`);
      await inTime(has(name).then((there) => (there ? undefined : sendFile(client, bucket, name, path, sizeBytes))));
    },

    has: (sha256) => inTime(has(nameOf(sha256))),

    async read(sha256) {
      const bytes = await inTime(readAll(client, bucket, nameOf(sha256))).catch((error) => {
        throw isMissing(error) ? new ObjectMissing(sha256) : error;
      });
      checkDigest(sha256, bytes);
      return bytes;
    },

    readRange: (sha256, start, end) => readRange(client, bucket, { sha256, name: nameOf(sha256) }, start, end),

    delete: (sha256) => inTime(client.removeObject(bucket, nameOf(sha256))),

    async probe() {
      if (!(await inTime(client.bucketExists(bucket), PROBE_DEADLINE_MS))) throw new Error(`there is no bucket ${bucket}`);
    },

    async ready() {
      const making = async () => {
        if (!(await client.bucketExists(bucket))) await client.makeBucket(bucket, settings.S3_REGION);
      };
      await inTime(making(), READY_DEADLINE_MS);
    },

    direct: directObjects(client, clientOf(settings, settings.S3_PUBLIC_ENDPOINT ?? settings.S3_ENDPOINT), bucket),
  };
}

/** `outside` signs for the address by which callers know the store. */
function directObjects(client: Client, outside: Client, bucket: string): DirectObjects {
  const uploadOf = (id: string) => `uploads/${assertUploadId(id)}`;
  const claimedOf = (id: string) => `claimed/${assertUploadId(id)}`;
  return {
    uploadUrl: (id, expiresInS) => outside.presignedPutObject(bucket, uploadOf(id), expiresInS),

    async claim(id) {
      try {
        await inTime(client.copyObject(bucket, claimedOf(id), `/${bucket}/${uploadOf(id)}`));
        return (await inTime(client.statObject(bucket, claimedOf(id)))).size;
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },

    async *read(id) {
      yield* await inTime(client.getObject(bucket, claimedOf(id)));
    },

    async keep(id, sha256) {
      assertDigest(sha256);
      await inTime(client.copyObject(bucket, `objects/${sha256}`, `/${bucket}/${claimedOf(id)}`));
    },

    async discard(id) {
      await inTime(client.removeObject(bucket, uploadOf(id)));
      await inTime(client.removeObject(bucket, claimedOf(id)));
    },

    downloadUrl(sha256, expiresInS, { type, disposition }) {
      assertDigest(sha256);
      const headers = { 'response-content-type': type, 'response-content-disposition': disposition };
      return outside.presignedGetObject(bucket, `objects/${sha256}`, expiresInS, headers);
    },
  };
}

function clientOf(settings: S3Settings, address: string): Client {
  const endpoint = new URL(address);
  const useSSL = endpoint.protocol === 'https:';
  return new Client({
    endPoint: endpoint.hostname,
    port: endpoint.port ? Number(endpoint.port) : useSSL ? 443 : 80,
    useSSL,
    accessKey: settings.S3_ACCESS_KEY ?? '',
    secretKey: settings.S3_SECRET_KEY ?? '',
    region: settings.S3_REGION,
  });
}

function assertUploadId(id: string): string {
  if (!/^[a-z0-9_]{1,64}$/.test(id)) throw new TypeError(`not the id of an upload: ${JSON.stringify(id)}`);
  return id;
}

/** Sends the file as the body of one request: the client's own `putObject` takes files into memory whole, or in parts of 5 MB and more. */
async function sendFile(client: Client, bucket: string, name: string, path: string, sizeBytes: number): Promise<void> {
  const url = new URL(await client.presignedPutObject(bucket, name, OWN_URL_TTL_S));
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const sending = send(url, { method: 'PUT', headers: { 'content-length': sizeBytes }, timeout: DEADLINE_MS });
  const answered = new Promise<number>((resolve, reject) => {
    sending.on('error', reject);
    sending.on('timeout', () => sending.destroy(new Error('the object store is silent')));
    sending.on('response', (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
  });
  const [status] = await Promise.all([answered, pipeline(createReadStream(path), sending)]);
  if (status !== 200) throw new Error(`the object store answered ${status} to a PUT`);
}

async function* readRange(
  client: Client,
  bucket: string,
  { sha256, name }: { readonly sha256: string; readonly name: string },
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  if (end < start) return;
  const stream = await inTime(client.getPartialObject(bucket, name, start, end - start + 1)).catch((error) => {
    throw isMissing(error) ? new ObjectMissing(sha256) : error;
  });
  yield* stream;
}

async function readAll(client: Client, bucket: string, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await client.getObject(bucket, name)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function inTime<T>(work: Promise<T>, deadlineMs: number = DEADLINE_MS): Promise<T> {
  let timer: NodeJS.Timeout;
  const deadline = new Promise<never>((_, reject) => {
    const silence = new Error(`the object store did not answer within ${deadlineMs / 1000} s`);
    timer = setTimeout(() => reject(Object.assign(silence, { code: 'ETIMEDOUT' })), deadlineMs);
  });
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'NoSuchKey' || error.code === 'NotFound');
}
