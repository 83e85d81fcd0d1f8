/** An S3 store in this process. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from 'minio';
import S3rver from 's3rver';
import { temporaryDir } from './database.ts';

export interface TestS3 {
  /** Settings as environment variables. */
  readonly settings: Readonly<Record<'S3_ENDPOINT' | 'S3_BUCKET' | 'S3_ACCESS_KEY' | 'S3_SECRET_KEY' | 'S3_REGION', string>>;
  /** The file that holds an object. */
  fileOf(name: string): string;
  makeBucket(name: string): Promise<void>;
  put(bucket: string, name: string, content: string): Promise<void>;
  close(): Promise<void>;
}

export async function startS3(): Promise<TestS3> {
  const folder = temporaryDir();
  const s3 = new S3rver({ directory: folder.path, silent: true });
  const server = createServer(s3.callback());
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const client = new Client({
    endPoint: '127.0.0.1',
    port,
    useSSL: false,
    accessKey: 'S3RVER',
    secretKey: 'S3RVER',
    region: 'us-east-1',
  });
  return {
    settings: {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: 'contents',
      S3_ACCESS_KEY: 'S3RVER',
      S3_SECRET_KEY: 'S3RVER',
      S3_REGION: 'us-east-1',
    },
    fileOf: (name) => join(folder.path, 'contents', `${name}._S3rver_object`),
    makeBucket: (name) => client.makeBucket(name),
    put: async (bucket, name, content) => {
      await client.putObject(bucket, name, content);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      folder.remove();
    },
  };
}
