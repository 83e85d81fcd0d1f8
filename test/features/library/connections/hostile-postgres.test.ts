/** What a server that only pretends to be Postgres can make of signing in: no work, no password that is not its own, no end of the process. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { createSecureContext } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { testPostgres } from '../../../../src/features/library/connections/sources/postgres.ts';

let server: Server | undefined;
/** What the client has sent, one write each. */
let heard: Buffer[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  server?.close();
  heard = [];
});

const message = (type: string, body: Buffer | string) => {
  const content = Buffer.from(body);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(type), length, content]);
};
const authentication = (code: number, more = '') => message('R', Buffer.concat([Buffer.from([0, 0, 0, code]), Buffer.from(more)]));
const SIGNED_IN = authentication(0);
const CLEAR_TEXT = authentication(3);
const SCRAM = authentication(10, 'SCRAM-SHA-256\0\0');
const challenge = (rounds: number) => authentication(11, `r=nonce,s=c2FsdA==,i=${rounds}`);
const READY = message('Z', 'I');
const REFUSED = message('E', 'SFATAL\0C28P01\0Mno\0\0');

/** What is wrong with a server that answers the client's writes with these, and ends the connection at the next. */
async function wrongWith(...answers: Buffer[]): Promise<unknown> {
  heard = [];
  server = createServer((socket) => {
    const left = [...answers];
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard.push(chunk);
      const answer = left.shift();
      if (answer === undefined) socket.end();
      else socket.write(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const egress = {
    dial: async () => connect(port, '127.0.0.1'),
    fetch: () => Promise.reject(new Error('a database is not fetched')),
    trusted: createSecureContext(),
  };
  const config = { host: '127.0.0.1', port, database: 'sales', ssl: 'disable' };
  const reach = { egress, share: 'wks_test' as WorkspaceId, signal: new AbortController().signal };
  return testPostgres(reach, { type: 'postgres', authType: 'none', config, credentials: null }).then(
    () => 'nothing',
    (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : error),
  );
}

const AGAIN = 'SourceFailure: The database asks to sign in again.';
const UNKNOWN = 'SourceFailure: The database signs in in a way that is not known.';

describe('a hostile Postgres server', () => {
  it('names the rounds of SCRAM only up to a bound', async () => {
    expect(await wrongWith(SCRAM, challenge(50_001))).toBe(
      'SourceFailure: The database asks for 50001 rounds of SCRAM; 50000 are allowed.',
    );
    expect(heard).toHaveLength(2);
    expect(await wrongWith(SCRAM, challenge(4096), REFUSED)).toBe('SourceFailure: The database does not accept the credentials.');
    expect(heard).toHaveLength(3);
  });

  it('asks to sign in once, and not behind the greeting', async () => {
    expect(await wrongWith(SCRAM, challenge(1), challenge(1))).toBe(AGAIN);
    expect(await wrongWith(Buffer.concat([SIGNED_IN, CLEAR_TEXT]))).toBe(AGAIN);
    expect(await wrongWith(Buffer.concat([SIGNED_IN, READY]), challenge(1))).toBe(AGAIN);
  });

  it('sends nothing that the client cannot read while it signs in', async () => {
    expect(await wrongWith(SCRAM, authentication(11, 'r=nonce,i=4096'))).toBe(UNKNOWN);
    expect(await wrongWith(SCRAM, authentication(11, 'r=nonce,s=c2FsdA==,i=1,i=999999999'))).toBe(UNKNOWN);
    expect(await wrongWith(message('R', ''))).toBe(UNKNOWN);
    expect(await wrongWith(Buffer.from([0x53, 0, 0, 0, 0]))).toBe('SourceFailure: The host does not speak as Postgres does.');
  });

  it('greets with at most 64 KB', async () => {
    const parameters = Array.from({ length: 70 }, () => message('S', `a\0${'b'.repeat(1024)}\0`));
    const tooLong = 'SourceFailure: The database sends more than 65536 bytes before it takes a query.';
    expect(await wrongWith(Buffer.concat([SIGNED_IN, ...parameters]))).toBe(tooLong);
    expect(await wrongWith(message('S', 'b'.repeat(70_000)).subarray(0, 66_000))).toBe(tooLong);
  });

  it('does not hear the password that this process has for its own database', async () => {
    vi.stubEnv('PGPASSWORD', 'of the process');
    expect(await wrongWith(CLEAR_TEXT, REFUSED)).toBe('SourceFailure: The database does not accept the credentials.');
    expect(heard[1]).toEqual(message('p', '\0'));
  });
});
