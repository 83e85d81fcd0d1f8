/** Nodes with certificates speak TLS to each other, and to nobody without one of their authority. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PeerDoor, type PeerTls } from '../../src/cluster/peers/peer-door.ts';
import { PeerLinks, PeerUnreachable } from '../../src/cluster/peers/peer-links.ts';
import type { PeerStream } from '../../src/edge/forwarding/peer-stream.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { SILENT, temporaryDir } from '../support/database.ts';
import { SECRET } from './peer-stage.ts';

const folder = temporaryDir();
const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder.path, stdio: 'ignore' });

/** A certificate for 127.0.0.1 from an authority of this name. */
function certificate(authority: string): PeerTls {
  const ca = [`${authority}.key`, `${authority}.pem`] as const;
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${authority}`, '-keyout', ca[0], '-out', ca[1]);
  const of = (end: string) => `${authority}-node.${end}`;
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=node',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
    '-keyout',
    of('key'),
    '-out',
    of('csr'),
  );
  openssl(
    'x509',
    '-req',
    '-days',
    '2',
    '-in',
    of('csr'),
    '-CA',
    ca[1],
    '-CAkey',
    ca[0],
    '-CAcreateserial',
    '-copy_extensions',
    'copy',
    '-out',
    of('pem'),
  );
  const [cert, key, authorities] = [of('pem'), of('key'), ca[1]].map((file) => readFileSync(join(folder.path, file)));
  if (cert === undefined || key === undefined || authorities === undefined) throw new Error('three files were made');
  return { cert, key, ca: authorities };
}

describe('with certificates', () => {
  let [ours, theirs]: (PeerTls | undefined)[] = [];
  beforeAll(() => {
    ours = certificate('ours');
    theirs = certificate('theirs');
    return () => folder.remove();
  });

  async function link(doorTls: PeerTls | undefined, linkTls: PeerTls | undefined) {
    const opened: PeerStream[] = [];
    const own = { secret: SECRET, self: () => ({ address: '127.0.0.1:1', incarnation: 'first' }), clock: systemClock, log: SILENT };
    const door = await PeerDoor.open({ ...own, tls: doorTls, host: '127.0.0.1', port: 0, opened: (stream) => void opened.push(stream) });
    const links = new PeerLinks({ ...own, tls: linkTls });
    onTestFinished(() => {
      links.close();
      door.close();
    });
    return { opened, open: async () => links.open(`127.0.0.1:${door.port}`, Buffer.from('head')) };
  }

  test('of one authority they reach each other', async () => {
    const { open, opened } = await link(ours, ours);
    expect((await open()).isOpen).toBe(true);
    await expect.poll(() => opened.length).toBe(1);
  });

  test.each<[string, () => [PeerTls | undefined, PeerTls | undefined]]>([
    ['the one that connects has one of another authority', () => [ours, theirs]],
    ['the one that connects has none', () => [ours, undefined]],
    ['the one that is reached has none', () => [undefined, ours]],
  ])('not where %s', async (_what, tls) => {
    const { open, opened } = await link(...tls());
    await expect(open()).rejects.toBeInstanceOf(PeerUnreachable);
    expect(opened).toEqual([]);
  });
});
