/** What becomes of a transaction whose connection the server ends: it fails, nobody else's work is touched, and the process goes on. */
import { createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, type Queries, type Sql } from '../../src/storage/sql.ts';
import { createServerDatabase } from '../support/database.ts';
import { describeWith } from '../support/services.ts';

describeWith('postgresUrl')('a connection that the server ends', () => {
  let database: Awaited<ReturnType<typeof createServerDatabase>>;
  let killer: postgres.Sql;
  beforeAll(async () => {
    database = await createServerDatabase('empty');
    killer = postgres(database.url, { max: 1, onnotice: () => undefined });
    await killer`create table note (text text)`;
  });
  afterAll(async () => {
    await killer.end();
    await database.drop();
  });

  const pidOf = async (queries: Queries) => (await queries<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0;
  const kill = (pid: number) => killer`select pg_terminate_backend(${pid}, 5000)`;

  /** One connection, so that each work after the loss is on the same one of the client. */
  async function withClient(work: (sql: Sql) => Promise<void>): Promise<void> {
    const sql = connect({ url: database.url }, 1);
    try {
      await work(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  describe.each([1, 2, 3])('time %i', () => {
    test('a transaction fails whose query was under way, and the client connects anew', () =>
      withClient(async (sql) => {
        const lost = sql.begin(async (tx) => {
          const pid = await pidOf(tx);
          await Promise.all([tx`insert into note values ('in flight')`, tx`select pg_sleep(60)`, kill(pid)]);
        });
        await expect(lost).rejects.toThrow();
        expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
        expect(await killer`select 1 from note where text = 'in flight'`).toHaveLength(0);
      }));

    test('a transaction that had nothing under way writes nothing into the next one on its connection', () =>
      withClient(async (sql) => {
        let goOn: () => void = () => undefined;
        const waiting = new Promise<void>((resolve) => {
          goOn = resolve;
        });
        const late: Promise<unknown>[] = [];
        const lost = sql.begin(async (tx) => {
          await kill(await pidOf(tx));
          await waiting;
          late.push(tx`insert into note values ('stray')`.execute(), tx`commit`.execute());
          await Promise.allSettled(late);
        });
        await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
        await expect(
          sql.begin(async (tx) => {
            await tx`insert into note values ('refused')`;
            goOn();
            while (late.length < 2) await nextTurn();
            expect((await Promise.allSettled(late)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
            await tx`select 1`;
            throw new Error('rolled back');
          }),
        ).rejects.toThrow('rolled back');
        expect(await killer`select text from note`).toEqual([]);
      }));

    test('a reserved connection refuses what comes after, and the client connects anew', () =>
      withClient(async (sql) => {
        const reserved = await sql.reserve();
        await kill(await pidOf(reserved));
        await expect(reserved`select pg_sleep(0)`).rejects.toThrow();
        reserved.release();
        expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
      }));
  });
});

/** `R` with 0, signed in, and `Z`, ready for a query. */
const READY = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

test('a server that goes away while a new connection asks for its types is told to who has asked something, and to nobody else', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  const server = createServer((socket: Socket) => {
    socket.once('data', () => {
      socket.write(READY);
      // What it asks for first.
      socket.once('data', () => {
        server.close();
        socket.destroy();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const sql = connect({ url: `postgres://easel@127.0.0.1:${port}/easel` }, 1);
  try {
    await expect(sql`select 1`).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await nextTurn();
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
    await sql.end({ timeout: 1 });
  }
});
