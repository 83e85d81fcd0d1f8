/** The programs that Easel is compared with: each runs the bench's own bundle with another command. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SERVER_CORE, type Server, startServer } from './processes.ts';

// Names of the servers in the tables of the report.
export const RAW = 'raw uWebSockets.js';
export const FASTIFY = 'Fastify + postgres';
export const EASEL = 'Easel';
/** Database connections of a peer: as many as Easel has by default (DATABASE_POOL). */
export const POOL = 8;

export async function startPeer(
  name: string,
  command: string,
  folder: string,
  port: number,
  settings: object,
  core = SERVER_CORE,
): Promise<Server> {
  const file = join(folder, `${command}.json`);
  await writeFile(file, JSON.stringify(settings));
  const self = process.argv[1];
  if (self === undefined) throw new Error('process.argv has no script path.');
  const args = ['--enable-source-maps', self, command, file];
  return startServer({ name, args, env: { NODE_ENV: 'production' }, port, readyPath: '/ready', core, log: `${file}.log` });
}
