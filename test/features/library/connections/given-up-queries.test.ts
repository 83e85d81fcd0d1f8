/** A query that nobody waits for any more: the database ends it, though its own time limit is none that we can rely on. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { Egress } from '../../../../src/egress/egress.ts';
import { postgresRows } from '../../../../src/features/library/connections/sources/postgres.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { SELF_SIGNED } from '../../../support/certificates.ts';
import { createServerDatabase } from '../../../support/database.ts';
import { describeWith } from '../../../support/services.ts';

function rowsOf(signal: AbortSignal, config: object, credentials: Readonly<Record<string, string>> | null, query: string) {
  const egress = new Egress({
    clock: systemClock,
    ports: new Set(),
    privateNetworks: '127.0.0.0/8,::1',
    resolve: async () => ['127.0.0.1'],
  });
  // Ports of the tests are any.
  const dial: Egress['dial'] = (request) => egress.dial({ ...request, usualPort: request.port });
  const way = { dial, fetch: egress.fetch.bind(egress), trusted: undefined };
  const authType = credentials === null ? 'none' : 'password';
  const rows = postgresRows(
    { egress: way, share: 'wks_test' as WorkspaceId, signal },
    { type: 'postgres', authType, config: config as Record<string, unknown>, credentials },
    { query, cursorColumn: undefined, after: undefined },
  );
  const read = async () => {
    for await (const row of rows) expect(row).toBeTypeOf('object');
  };
  return { ended: read(), egress };
}

describeWith('postgresUrl')('a query that is given up', () => {
  it('ends at its database, also where it has set the time limit aside', async () => {
    const database = await createServerDatabase('empty');
    const sql = postgres(database.url, { max: 1 });
    const running = () => sql`select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
    try {
      const { hostname: host, port, username, password, pathname } = new URL(database.url);
      const config = { host, port: Number(port || 5432), database: pathname.slice(1), ssl: 'disable' };
      const ending = new AbortController();
      // For the next batch of rows there is no limit then.
      const query = `
        select set_config('statement_timeout', '0', true), case when i > ${LIMITS.connectionBatchRows} then pg_sleep(600) end
        from generate_series(1, 1000) i`;
      const { ended, egress } = rowsOf(ending.signal, config, { username: username || 'root', password: password || 'unused' }, query);
      const failed = expect(ended).rejects.toThrow('late');
      await expect.poll(async () => (await running()).length).toBe(1);
      ending.abort(new Error('late'));
      await failed;
      await expect.poll(async () => (await running()).length).toBe(0);
      expect(egress.used).toBe(0);
    } finally {
      await sql`select pg_terminate_backend(pid) from (${running()}) r`;
      await sql.end();
      await database.drop();
    }
  });
});

const message = (type: string, body: readonly number[] | string) => {
  const content = Buffer.from(body as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(type), length, content]);
};
const KEY = [0, 0, 0, 7, 0xde, 0xad, 0xbe, 0xef];
const GREETING = Buffer.concat([message('R', [0, 0, 0, 0]), message('K', KEY), message('Z', 'I')]);
const SSL_REQUEST = '0000000804d2162f';
const CANCEL_REQUEST = '0000001004d2162e';

describe('giving up a query', () => {
  /** A server with TLS that answers no query. `said`: what each connection sends after its request for TLS, in one text. */
  async function silentServer() {
    const said: Promise<string>[] = [];
    const sockets = new Set<Socket>();
    let asked = (_: string) => {
      // Replaced below.
    };
    const query = new Promise<string>((resolve) => {
      asked = resolve;
    });
    const speak = async (socket: Socket): Promise<string> => {
      const [request] = (await once(socket, 'data')) as [Buffer];
      if (request.toString('hex') !== SSL_REQUEST) return 'in the clear';
      const upgraded = new TLSSocket(socket, { isServer: true, ...SELF_SIGNED });
      upgraded.on('error', () => undefined);
      socket.write('S');
      const [first] = (await once(upgraded, 'data')) as [Buffer];
      if (first.toString('hex').startsWith(CANCEL_REQUEST)) {
        upgraded.end();
        return first.toString('hex');
      }
      upgraded.write(GREETING);
      const [next] = (await once(upgraded, 'data')) as [Buffer];
      asked(next.toString('utf8'));
      return 'a session';
    };
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      said.push(speak(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    };
    return { port: (server.address() as AddressInfo).port, said, query, close };
  }

  it('names the connection by the key it was given, with TLS as the connection itself', async () => {
    const server = await silentServer();
    try {
      const ending = new AbortController();
      const config = { host: 'db.example', port: server.port, database: 'sales', ssl: 'require' };
      const { ended, egress } = rowsOf(ending.signal, config, null, 'select 1');
      const failed = expect(ended).rejects.toThrow('late');
      expect(await server.query).toContain('begin');
      ending.abort(new Error('late'));
      await failed;
      expect(await Promise.all(server.said)).toEqual(['a session', `${CANCEL_REQUEST}${Buffer.from(KEY).toString('hex')}`]);
      expect(egress.used).toBe(0);
    } finally {
      server.close();
    }
  });
});
