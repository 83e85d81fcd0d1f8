import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DURABLE_START_PARAMS, DurableNodeFS } from '../../src/storage/durable-node-fs.ts';
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

/** A client that speaks the protocol by hand, so that it can stop in the middle of it. */
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

  /** All that has come since the last call, once it contains `text`. */
  async until(text: string): Promise<string> {
    while (!this.#received.includes(text)) await once(this.socket, 'data');
    const received = this.#received.toString('latin1');
    this.#received = Buffer.alloc(0);
    return received;
  }

  /** All that has come since the last call, once the server is ready for the next query. */
  ready(state: 'I' | 'T' | 'E' = 'I'): Promise<string> {
    return this.until(`Z\0\0\0\x05${state}`);
  }
}

describe('embedded database', () => {
  const folder = temporaryDir();
  const path = join(folder.path, 'pg.sock');
  /** Files that were put on the disk, by their last path segment but one. */
  const synced: string[] = [];
  let db: PGlite;
  let socket: PGliteSocket;
  beforeAll(async () => {
    const fs = new DurableNodeFS(join(folder.path, 'data'), (file) => synced.push(readlinkSync(`/proc/self/fd/${file}`)));
    db = await PGlite.create({ fs, startParams: [...DURABLE_START_PARAMS] });
    socket = new PGliteSocket(db);
    await socket.listen(path);
  });
  afterAll(async () => {
    await socket.close();
    await db.close();
    folder.remove();
  });

  const client = async () => {
    const raw = new RawClient(path);
    await raw.ready();
    return raw;
  };

  it('puts the write-ahead log on the disk before it acknowledges a commit', async () => {
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

  it('keeps one connection’s bound query from another’s', async () => {
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

  it('keeps one connection’s error from the messages of another', async () => {
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

  it('makes others wait for the end of a transaction', async () => {
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

  it('rolls back what a connection leaves open when it goes, whatever state it is in', async () => {
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

  it('drops the prepared statements of a connection with it', async () => {
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

  it('reads messages however they are cut', async () => {
    const a = await client();
    for (const byte of Buffer.concat([parse("select 'in pieces'"), bind(), EXECUTE, SYNC])) a.socket.write(Buffer.from([byte]));
    expect(await a.ready()).toContain('in pieces');
    a.send(query("select 'one'"), query("select 'two'"), query("select 'three'"));
    let answers = '';
    while (!answers.includes('three')) answers += await a.ready();
    expect(answers.match(/one[\s\S]*two[\s\S]*three/)).not.toBeNull();
    a.socket.destroy();
  });

  it('cuts off a message that claims an impossible length', async () => {
    const a = await client();
    const closed = once(a.socket, 'close');
    a.socket.write(Buffer.from([0x51, 0xff, 0xff, 0xff, 0xff, 0]));
    await closed;
  });
});
