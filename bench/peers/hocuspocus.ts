/** Peer: @hocuspocus/server with its database extension on Postgres, with default settings (it stores the whole document 2 s after an edit). */
import { readFileSync } from 'node:fs';
import { Database } from '@hocuspocus/extension-database';
import { Server } from '@hocuspocus/server';
import postgres from 'postgres';

export interface HocuspocusSettings {
  readonly port: number;
  readonly databaseUrl: string;
}

export async function serveHocuspocus(file: string): Promise<void> {
  const { port, databaseUrl } = JSON.parse(readFileSync(file, 'utf8')) as HocuspocusSettings;
  const sql = postgres(databaseUrl, { max: 8, onnotice: () => undefined });
  await sql`create table if not exists peer_document (name text primary key, data bytea not null)`;
  const server = new Server({
    port,
    address: '127.0.0.1',
    quiet: true,
    stopOnSignals: true,
    extensions: [
      new Database({
        fetch: async ({ documentName }) =>
          (await sql<{ data: Buffer }[]>`select data from peer_document where name = ${documentName}`)[0]?.data ?? null,
        store: async ({ documentName, state }) => {
          await sql`
            insert into peer_document (name, data) values (${documentName}, ${state})
            on conflict (name) do update set data = excluded.data`;
        },
      }),
    ],
  });
  await server.listen();
}
