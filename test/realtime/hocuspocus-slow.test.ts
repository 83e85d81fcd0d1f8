/** A peer that does not read: the answers that it counts are kept for it, up to a bound. */
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ANONYMOUS, type ArtifactHead } from '../../actors/access/access.ts';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import { newId } from '../../protocol/core/ids.ts';
import type { Link, SendOutcome } from '../../src/edge/socket.ts';
import { hocuspocus } from '../../src/realtime/hocuspocus.ts';
import type { Seat } from '../../src/realtime/room-types.ts';
import { frameAllowed, frameSyncStatus, frameSyncStep1, frameSyncUpdate } from '../../src/realtime/wire.ts';
import { SILENT } from '../support/database.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const hex = (frame: Uint8Array) => Buffer.from(frame).toString('hex');
const UPDATE = Uint8Array.of(0, 0);

class FullableLink implements Link {
  isOpen = true;
  isFull = false;
  bufferedBytes = 0;
  readonly sent: string[] = [];
  readonly closings: number[] = [];
  send(frame: Uint8Array): SendOutcome {
    if (this.isFull) return 'skipped';
    this.sent.push(hex(frame));
    return 'sent';
  }
  writes = 0;
  together(sending: () => void): void {
    this.writes += 1;
    sending();
  }
  readonly subscribe = () => undefined;
  readonly unsubscribe = () => undefined;
  readonly publish = () => undefined;
  readonly broadcast = () => undefined;
  close(code: number): void {
    this.isOpen = false;
    this.closings.push(code);
  }
}

/** An open document `d` on a link that the test can fill. */
async function opened() {
  const id = newId('artifact');
  const link = new FullableLink();
  const head = { id, visibility: 'public', allowAnonCollab: true, collaborators: new Map() } as unknown as ArtifactHead;
  const seat: Seat = {
    apply: () => true,
    holds: () => true,
    sendStep1: () => link.send(frameSyncStep1(UPDATE, 'd')) !== 'skipped',
    requested: ({ before }) => before?.(),
    answered: () => false,
    sendAwareness: () => undefined,
    awareness: () => undefined,
    skipped: () => undefined,
    drained: () => undefined,
    leave: () => undefined,
  };
  const protocol = hocuspocus({
    clock: new VirtualClock(),
    log: SILENT,
    tokens: { authenticate: () => ANONYMOUS },
    heads: { get: () => head },
    watch: { watch: () => () => undefined },
    identities: { of: () => ({ id: 'anonymous:1', name: 'Anonymous', kind: 'anonymous', color: '#000000' }) },
    rooms: { join: () => seat },
    connections: { join: () => () => undefined },
    newSessionId: () => '1',
  });
  const session = protocol.open(link, {
    requestId: 'req_1',
    principal: ANONYMOUS,
    head,
    params: { artifactId: id },
    query: {},
    host: 'localhost',
    address: '127.0.0.1',
  });
  const receive = (frame: Uint8Array) => session.message(frame.slice().buffer as ArrayBuffer, true);
  receive(Uint8Array.of(1, 100, 2, 0, 0));
  while (link.sent.length === 0) await setImmediate();
  expect(link.sent.splice(0)).toEqual([hex(frameAllowed('read-write', 'd'))]);
  return { link, session, receive };
}

it('every status that found no room follows when the link has drained, and so does the question for what the client has', async () => {
  const { link, session, receive } = await opened();
  link.isFull = true;
  for (let i = 0; i < 3; i += 1) receive(frameSyncUpdate(UPDATE, 'd'));
  receive(frameSyncStep1(UPDATE, 'd'));
  await setImmediate();
  expect(link.sent).toEqual([]);
  link.isFull = false;
  session.drained();
  const status = hex(frameSyncStatus(true, 'd'));
  expect(link.sent).toEqual([status, status, status, hex(frameSyncStep1(UPDATE, 'd'))]);
  expect(link.isOpen).toBe(true);
});

it('statuses that are due together leave in one write', async () => {
  const { link, receive } = await opened();
  for (let i = 0; i < 3; i += 1) receive(frameSyncUpdate(UPDATE, 'd'));
  await setImmediate();
  expect([link.writes, link.sent]).toEqual([1, Array.from({ length: 3 }, () => hex(frameSyncStatus(true, 'd')))]);
});

it('a peer that sends without reading is closed with a reconnect code', async () => {
  const { link, receive } = await opened();
  link.isFull = true;
  for (let i = 0; i < 2000 && link.isOpen; i += 1) {
    receive(frameSyncUpdate(UPDATE, 'd'));
    await setImmediate();
  }
  expect(link.closings).toEqual([CLOSE.overloaded]);
});
