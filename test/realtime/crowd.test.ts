/** Many clients connect at once to the real program, each with an uncached token. All are admitted and stay connected, and standard error has only log lines. */
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createAccount } from '../../src/features/people/accounts/handlers.ts';
import { connect } from '../../src/storage/sql.ts';
import { createServerDatabase, temporaryDir } from '../support/database.ts';
import { type Program, startProgram } from '../support/program.ts';
import { describeWith } from '../support/services.ts';
import { publishTargets } from '../support/writers.ts';

// By hand, what 600 do: CROWD=600 npx vitest run test/realtime/crowd.test.ts
const CROWD = Number(process.env.CROWD ?? 200);
// By hand, first sockets of many fresh processes: CROWD_STARTS=30 npx vitest run test/realtime/crowd.test.ts
const STARTS = Number(process.env.CROWD_STARTS ?? 1);

const FAMILIES = ['realtime/notes', 'realtime', 'channels'] as const;

/** Accounts that may join the artifact, with tokens that the program has not cached. */
async function strangers(url: string, count: number): Promise<string[]> {
  const sql = connect({ url }, 1);
  const tokens: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const { token } = await sql.begin((tx) => createAccount(tx, { tier: 'free', isAdmin: false, nowMs: Date.now() }));
    tokens.push(token);
  }
  await sql.end();
  return tokens;
}

async function openToAll(program: Program): Promise<string> {
  const [target] = await publishTargets(program, 1);
  if (target === undefined) throw new Error('nothing was published');
  const answer = await fetch(`${program.baseUrl}/v1/artifacts/${target.artifactId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${target.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ visibility: 'public', allow_anon_collab: true }),
  });
  expect(answer.status).toBe(200);
  return target.artifactId;
}

/** Settles when the socket is open and has answered a ping; rejects where it is refused or closed before. */
function join(url: string, token: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` }, perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', (code, reason) => reject(new Error(`closed with ${code} ${reason}`)));
    socket.once('open', () => socket.ping());
    socket.once('pong', () => resolve(socket));
  });
}

function linesThatAreNotJson(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
}

describeWith('postgresUrl')('a crowd at the doors of the real program', () => {
  test(`${CROWD} sockets of each protocol get in and stay, and standard error holds JSON lines alone: ${STARTS} starts`, {
    timeout: 120_000 + STARTS * 60_000,
  }, async () => {
    for (let start = 0; start < STARTS; start += 1) {
      const folder = temporaryDir();
      const server = await createServerDatabase();
      const program = await startProgram({ DATA_DIR: folder.path, DATABASE_URL: server.url, LOG_LEVEL: 'info', DEFAULT_TIER: 'pro' });
      const artifactId = await openToAll(program);
      const tokens = await strangers(server.url, CROWD * FAMILIES.length);
      const base = `${program.baseUrl.replace('http', 'ws')}/v1/data/${artifactId}`;
      const joined = await Promise.allSettled(tokens.map((token, at) => join(`${base}/${FAMILIES[at % FAMILIES.length]}`, token)));
      expect(joined.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual([]);
      const sockets = joined.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(sockets.filter(({ readyState }) => readyState !== WebSocket.OPEN)).toEqual([]);
      for (const socket of sockets) socket.removeAllListeners('error').on('error', () => undefined);
      await program.end('SIGTERM');
      expect(linesThatAreNotJson(program.stderr())).toEqual([]);
      expect(program.stderr()).toContain('"level"');
      await server.drop();
      folder.remove();
    }
  });
});
