/** Objects in a bucket of any S3-compatible store. */
import { Client } from 'minio';
import type { Settings } from '../config.ts';
import { assertDigest, checkDigest, ObjectMissing, type ObjectStore } from './objects.ts';

/** A store that takes longer for 25 MB is as good as gone; the caller answers 503 rather than wait. */
const DEADLINE_MS = 60_000;

type S3Settings = Pick<Settings, 'S3_BUCKET' | 'S3_ACCESS_KEY' | 'S3_SECRET_KEY' | 'S3_REGION'> & { readonly S3_ENDPOINT: string };

export function s3Objects(settings: S3Settings): ObjectStore {
  const endpoint = new URL(settings.S3_ENDPOINT);
  const useSSL = endpoint.protocol === 'https:';
  const client = new Client({
    endPoint: endpoint.hostname,
    port: endpoint.port ? Number(endpoint.port) : useSSL ? 443 : 80,
    useSSL,
    accessKey: settings.S3_ACCESS_KEY ?? '',
    secretKey: settings.S3_SECRET_KEY ?? '',
    region: settings.S3_REGION,
  });
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

    has: (sha256) => inTime(has(nameOf(sha256))),

    async read(sha256) {
      const bytes = await inTime(readAll(client, bucket, nameOf(sha256))).catch((error) => {
        throw isMissing(error) ? new ObjectMissing(sha256) : error;
      });
      checkDigest(sha256, bytes);
      return bytes;
    },

    delete: (sha256) => inTime(client.removeObject(bucket, nameOf(sha256))),

    async ready() {
      if (!(await inTime(client.bucketExists(bucket)))) await inTime(client.makeBucket(bucket, settings.S3_REGION));
    },
  };
}

async function readAll(client: Client, bucket: string, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await client.getObject(bucket, name)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the object store did not answer within ${DEADLINE_MS / 1000} s`)), DEADLINE_MS);
  });
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'NoSuchKey' || error.code === 'NotFound');
}
