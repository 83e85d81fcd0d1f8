import { once } from 'node:events';
import { existsSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { DurableNodeFS, EMBEDDED_START_PARAMS } from '../../src/storage/durable-node-fs.ts';
import { PGliteSocket } from '../../src/storage/pglite-socket.ts';
import { temporaryDir } from '../support/database.ts';

const message = (type: string, ...parts: (string | Buffer)[]) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const parse = (sql: string, name = '') => message('P', `${name}\0${sql}\0`, Buffer.alloc(2));
const bind = (name = '') => message('B', `\0${name}\0`, Buffer.alloc(6));
const EXECUTE = message('E', '\0', Buffer.alloc(4));
const SYNC = message('S');
const query = (sql: string) => message('Q', `${sql}\0`);

/** A client that sends raw protocol messages, so that it can stop in the middle of one. */
class RawClient {
  readonly socket: Socket;
  #received = Buffer.alloc(0);

  constructor(path: string) {
    this.socket = connect(path);
    this.socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
    });
    const startup = Buffer.concat([Buffer.alloc(4), Buffer.from([0, 3, 0, 0]), Buffer.from('user\0postgres\0database\0postgres\0\0')]);
    startup.writeInt32BE(startup.length);
    this.socket.write(startup);
  }

  send(...messages: Buffer[]): void {
    this.socket.write(Buffer.concat(messages));
  }

  /** Everything received since the last call, once it contains `text`. */
  async until(text: string): Promise<string> {
    while (!this.#received.includes(text)) await once(this.socket, 'data');
    const received = this.#received.toString('latin1');
    this.#received = Buffer.alloc(0);
    return received;
  }

  /** Everything received since the last call, once the server is ready for the next query. */
  ready(state: 'I' | 'T' | 'E' = 'I'): Promise<string> {
    return this.until(`Z\0\0\0\x05${state}`);
  }
}

/** Resolves when the socket at `path` has read everything written before: it answers this request itself, without the backend. */
async function passed(path: string): Promise<void> {
  const socket = connect(path);
  socket.write(Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]));
  await once(socket, 'data');
  socket.destroy();
}

const LARGE_BYTES = 8 * 1024 * 1024;

describe('embedded database', () => {
  const folder = temporaryDir();
  const path = join(folder.path, 'pg.sock');
  /** Files that were synced to disk, by the last path segment but one. */
  const synced: string[] = [];
  let db: PGlite;
  let socket: PGliteSocket;
  /** What each statement takes by the clock of the socket. */
  let statementMs = 0;
  let nowMs = 0;
  beforeAll(async () => {
    const fs = new DurableNodeFS(join(folder.path, 'data'), (file) => synced.push(readlinkSync(`/proc/self/fd/${file}`)));
    db = await PGlite.create({ fs, startParams: [...EMBEDDED_START_PARAMS] });
    socket = new PGliteSocket(db, () => {
      nowMs += statementMs;
      return nowMs;
    });
    await socket.listen(path);
  });
  afterAll(async () => {
    await socket.close();
    await db.close();
    folder.remove();
  });

  /** Lets every statement take so long until the test ends. */
  const statementsTake = (ms: number) => {
    statementMs = ms;
    onTestFinished(() => {
      statementMs = 0;
    });
  };

  const client = async () => {
    const raw = new RawClient(path);
    await raw.ready();
    return raw;
  };

  it('syncs the write-ahead log before it acknowledges a commit', async () => {
    const raw = await client();
    raw.send(query('create table durable (n int)'));
    await raw.ready();
    for (let commit = 0; commit < 5; commit++) {
      synced.length = 0;
      raw.send(query(`insert into durable values (${commit})`));
      await raw.ready();
      expect(synced.map((file) => file.split('/').at(-2))).toContain('pg_wal');
    }
    raw.send(query('show fsync'));
    expect(await raw.ready()).toContain('on');
    raw.socket.destroy();
  });

  it('keeps the bound queries of two connections apart', async () => {
    const [a, b] = await Promise.all([client(), client()]);
    a.send(parse("select 'for A'"), bind());
    await a.until('2\0\0\0\x04');
    b.send(parse("select 'for B'"), bind(), EXECUTE, SYNC);
    a.send(EXECUTE, SYNC);
    expect(await a.ready()).toContain('for A');
    expect(await b.ready()).toContain('for B');
    a.socket.destroy();
    b.socket.destroy();
  });

  it('keeps the error of one connection from the messages of another', async () => {
    const [a, b] = await Promise.all([client(), client()]);
    a.send(parse('select no_such_column'));
    await a.until('no_such_column');
    b.send(parse("select 'fine'"), bind(), EXECUTE, SYNC);
    a.send(SYNC);
    await a.ready();
    expect(await b.ready()).toContain('fine');
    a.socket.destroy();
    b.socket.destroy();
  });

  it('makes other connections wait for the end of a transaction', async () => {
    const [a, b] = await Promise.all([client(), client()]);
    a.send(query('create table turn (n int); begin; insert into turn values (1)'));
    await a.ready('T');
    b.send(query('select count(*) as seen from turn'));
    a.send(query('insert into turn values (2)'));
    await a.ready('T');
    a.send(query('commit'));
    await a.ready();
    expect(await b.ready()).toContain('\0\0\0\x012');
    a.socket.destroy();
    b.socket.destroy();
  });

  it('serves the connection that has used the session least first', async () => {
    const [holder, busy, quiet] = await Promise.all([client(), client(), client()]);
    statementsTake(10);
    busy.send(query('create table served (who text)'));
    await busy.ready();
    holder.send(query('begin'));
    await holder.ready('T');
    busy.send(query("insert into served values ('busy')"));
    await passed(path);
    quiet.send(query("insert into served values ('quiet')"));
    await passed(path);
    holder.send(query('commit'));
    await Promise.all([busy.ready(), quiet.ready(), holder.ready()]);
    holder.send(query("select string_agg(who, ',' order by ctid) as turns from served"));
    expect(await holder.ready()).toContain('quiet,busy');
    for (const { socket: open } of [holder, busy, quiet]) open.destroy();
  });

  it('hears between two long statements who else has something to say', async () => {
    const [holder, quiet, ...busy] = await Promise.all(Array.from({ length: 8 }, client));
    if (holder === undefined || quiet === undefined) throw new Error('no clients');
    statementsTake(30);
    for (const one of busy) one.send(query('select 1'));
    await Promise.all(busy.map((one) => one.ready()));
    statementsTake(2);
    holder.send(query('create table heard (who text)'));
    await holder.ready();
    holder.send(query('begin'));
    await holder.ready('T');
    for (const one of busy) one.send(query("insert into heard values ('busy')"));
    await passed(path);
    holder.send(query('commit'));
    await holder.ready();
    quiet.send(query("insert into heard values ('quiet')"));
    await Promise.all([quiet.ready(), ...busy.map((one) => one.ready())]);
    holder.send(query("select string_agg(who, ',' order by ctid) as turns from heard"));
    expect(await holder.ready()).toMatch(/quiet,busy/);
    for (const { socket: open } of [holder, quiet, ...busy]) open.destroy();
  });

  it('rolls back the open transaction of a connection that closes, in any state', async () => {
    const b = await client();
    b.send(query('create table left_open (n int)'));
    await b.ready();
    for (const last of [query('select 1'), query('select 1 / 0'), parse('select no_such_column')]) {
      const a = await client();
      a.send(query('begin; insert into left_open values (1)'));
      await a.ready('T');
      a.send(last);
      a.socket.end();
      b.send(query('select count(*) as n from left_open'));
      expect(await b.ready()).toContain('\0\0\0\x010');
    }
    b.socket.destroy();
  });

  it('drops the prepared statements of a closed connection', async () => {
    const a = await client();
    a.send(parse('select 1', 'mine'), SYNC);
    await a.ready();
    const closed = once(a.socket, 'close');
    a.send(message('X'));
    await closed;
    const b = await client();
    b.send(query("select count(*) as n from pg_prepared_statements where name = 'mine'"));
    expect(await b.ready()).toContain('\0\0\0\x010');
    b.socket.destroy();
  });

  it('reads messages however they are split', async () => {
    const a = await client();
    for (const byte of Buffer.concat([parse("select 'in pieces'"), bind(), EXECUTE, SYNC])) a.socket.write(Buffer.from([byte]));
    expect(await a.ready()).toContain('in pieces');
    a.send(query("select 'one'"), query("select 'two'"), query("select 'three'"));
    let answers = '';
    while (!answers.includes('three')) answers += await a.ready();
    expect(answers.match(/one[\s\S]*two[\s\S]*three/)).not.toBeNull();
    a.socket.destroy();
  });

  it.each([65_530, 65_531, 65_535, 65_536, 131_000])(
    'hands on an answer of %i bytes and more, whose end is cut anywhere',
    async (bytes) => {
      const a = await client();
      for (let more = 0; more < 8; more += 1) {
        a.send(query(`select repeat('x', ${bytes + more - 60}) || 'end' as text`));
        expect((await a.ready()).match(/x+end/)?.[0].length).toBe(bytes + more - 57);
      }
      a.socket.destroy();
    },
  );

  it('copies a large message a few times, not once per chunk', async () => {
    const a = await client();
    const large = query(`select length('${'x'.repeat(LARGE_BYTES)}') as n`);
    const concat = vi.spyOn(Buffer, 'concat');
    onTestFinished(() => concat.mockRestore());
    a.socket.write(large);
    expect(await a.ready()).toContain(`${LARGE_BYTES}`);
    const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
    expect(copied).toBeLessThan(2 * large.length);
    a.socket.destroy();
  });

  it('reads a message that follows a large one in the same chunk', async () => {
    const a = await client();
    const large = query(`select length('${'x'.repeat(200_000)}') as n`);
    const [head, tail] = [large.subarray(0, 100_000), large.subarray(100_000)];
    a.socket.write(head);
    await passed(path);
    const next = query("select 'after it'");
    a.socket.write(Buffer.concat([tail, next.subarray(0, 3)]));
    expect(await a.ready()).toContain('200000');
    a.socket.write(next.subarray(3));
    expect(await a.ready()).toContain('after it');
    a.socket.destroy();
  });

  it('cuts off a silent owner of the backend, but not one whose message arrives slowly', async () => {
    const a = await client();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    a.send(query('begin'));
    await a.ready('T');
    const long = query("select 'it took long'");
    for (const byte of long.subarray(0, 5)) {
      a.socket.write(Buffer.from([byte]));
      await passed(path);
      vi.advanceTimersByTime(20_000);
    }
    a.socket.write(long.subarray(5));
    expect(await a.ready('T')).toContain('it took long');
    const closed = once(a.socket, 'close');
    vi.advanceTimersByTime(30_000);
    await closed;
  });

  it('keeps a large value of a commit in memory, without temporary files', async () => {
    const a = await client();
    a.send(
      query(`with written as materialized (select repeat('x', 8000000) as data from generate_series(1, 2))
      select sum(octet_length(data)) as n from written union all select sum(length(data)) from written`),
    );
    expect((await a.ready()).match(/16000000[\s\S]*16000000/)).not.toBeNull();
    // Postgres creates this folder with its first temporary file and never removes it.
    expect(existsSync(join(folder.path, 'data/base/pgsql_tmp'))).toBe(false);
    a.socket.destroy();
  });

  it('cuts off a message that claims an impossible length', async () => {
    const a = await client();
    const closed = once(a.socket, 'close');
    a.socket.write(Buffer.from([0x51, 0xff, 0xff, 0xff, 0xff, 0]));
    await closed;
  });
});
