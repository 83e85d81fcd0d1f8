/** An S3 store in this process. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import S3rver from 's3rver';
import { temporaryDir } from './database.ts';

export interface TestS3 {
  /** Settings as environment variables. */
  readonly settings: Readonly<Record<'S3_ENDPOINT' | 'S3_BUCKET' | 'S3_ACCESS_KEY' | 'S3_SECRET_KEY' | 'S3_REGION', string>>;
  /** The file that holds an object. */
  fileOf(name: string): string;
  close(): Promise<void>;
}

export async function startS3(): Promise<TestS3> {
  const folder = temporaryDir();
  const s3 = new S3rver({ directory: folder.path, silent: true });
  const server = createServer(s3.callback());
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    settings: {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: 'contents',
      S3_ACCESS_KEY: 'S3RVER',
      S3_SECRET_KEY: 'S3RVER',
      S3_REGION: 'us-east-1',
    },
    fileOf: (name) => join(folder.path, 'contents', `${name}._S3rver_object`),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      folder.remove();
    },
  };
}
