/** Bodies that are announced and not sent, or sent drop by drop, take no room from others. Source: issue 10, Found 3. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { databaseKinds } from '../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../support/easel.ts';
import { PAGE, published } from '../../support/requests.ts';
import { attackerAddress, Caller, Victim } from './neighbour-stage.ts';

describe.each(databaseKinds())('on %s', (kind) => {
  let easel: TestEasel;
  let victim: Victim;
  let attackerToken = '';
  let attacked = '';
  const sockets: Socket[] = [];

  beforeAll(async () => {
    easel = await startTestEasel({ database: kind });
    victim = await Victim.of(easel);
    const attacker = await easel.newUser('pro');
    attackerToken = attacker.token;
    attacked = (await published(easel, attacker)).id;
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    victim.close();
    await easel.close();
  });

  /** Announces a body and sends its beginning. Resolves when the service has taken it. */
  function announce(index: number, target: string, lengthBytes: number, beginning: Buffer): Promise<void> {
    const socket = connect({ port: easel.port, host: '127.0.0.1', localAddress: attackerAddress(index) });
    // The service closes it, because nothing comes.
    socket.on('error', () => undefined);
    sockets.push(socket);
    const head = `${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${attackerToken}\r\nContent-Length: ${lengthBytes}\r\n\r\n`;
    return new Promise((resolve) => {
      socket.write(head);
      socket.write(beginning, () => resolve());
    });
  }

  /** A body of several megabytes from another network. */
  async function publishSome(): Promise<number> {
    const caller = new Caller(easel, attackerAddress(200));
    const files = [...PAGE, { path: 'b.txt', content: 'x'.repeat(9_000_000), encoding: 'utf8' }];
    const { status } = await caller.call({
      method: 'POST',
      path: '/v1/publish',
      token: victim.owner.token,
      body: JSON.stringify({ files }),
    });
    caller.close();
    return status;
  }

  test('forty networks announce the largest publish, and others publish and write', async () => {
    const attack = async () => {
      for (let index = 0; index < 40; index += 1) await announce(index, 'POST /v1/publish', LIMITS.publishBodyBytesMax, Buffer.from('{'));
      expect(await publishSome()).toBe(200);
    };
    const work = await victim.during(attack());
    expect(work.refused).toEqual([]);
  });

  test('two hundred uploads are announced, and others upload', async () => {
    const upload = `POST /v1/data/${attacked}/blobs`;
    const attack = async () => {
      for (let index = 0; index < 200; index += 1) {
        await announce(index, upload, LIMITS.blobBytesMax, Buffer.alloc(0));
      }
      const caller = new Caller(easel, attackerAddress(201));
      const form = 'the body of a form';
      const body = `--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n${form}\r\n--x--\r\n`;
      const { status } = await caller.call({
        method: 'POST',
        path: `/v1/data/${victim.artifactId}/blobs`,
        token: victim.owner.token,
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
        body,
      });
      caller.close();
      expect(status).toBe(201);
    };
    const work = await victim.during(attack());
    expect(work.refused).toEqual([]);
  });

  test('one network that really sends fills its own share only', async () => {
    const started = Buffer.alloc(60 * 1024 * 1024, ' ');
    const attack = async () => {
      await Promise.all([1, 2, 3, 4].map(() => announce(1, 'POST /v1/publish', LIMITS.publishBodyBytesMax, started)));
      expect(await publishSome()).toBe(200);
    };
    const work = await victim.during(attack());
    expect(work.refused).toEqual([]);
  });
});
