/** Attacks by WebSockets: floods of sync requests and edits, gaps, readers that do not read, and sockets without credentials. */
import { WebSocket } from 'ws';
import * as Y from 'yjs';
import { type Codec, codecOf, EMPTY_VECTOR } from '../realtime/wire.ts';
import { type Attack, aborted, addressOf, answers, type Ground, openArtifact, repeat } from './attack.ts';

const DOCUMENT = 'notes';
const codec: Codec = codecOf('y-websocket', DOCUMENT);
/** Bytes that wait in the attacker's own memory; beyond it the server's flow control holds the attacker, which is what it should do. */
const BUFFERED_BYTES_MAX = 1024 * 1024;

function open({ port }: Ground, index: number, path: string): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { localAddress: addressOf(index), perMessageDeflate: false });
  socket.on('error', () => undefined);
  socket.on('close', (code) => answers.set(code, (answers.get(code) ?? 0) + 1));
  return socket;
}

function opened(socket: WebSocket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('open', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
}

/** Sends what `next` makes as quickly as the socket takes it, over a new socket whenever the server closes it. */
async function flood(ground: Ground, index: number, path: string, signal: AbortSignal, next: () => Uint8Array): Promise<void> {
  while (!signal.aborted) {
    const socket = open(ground, index, path);
    if (await opened(socket)) {
      while (!signal.aborted && socket.readyState === WebSocket.OPEN) {
        for (let frame = 0; frame < 20 && socket.bufferedAmount < BUFFERED_BYTES_MAX; frame++) socket.send(next());
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    socket.terminate();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Fills the document with about this many bytes of text, in small pieces. */
async function fill(ground: Ground, id: string, bytes: number): Promise<void> {
  const socket = open(ground, 0, `/v1/data/${id}/realtime/${DOCUMENT}`);
  if (!(await opened(socket))) throw new Error('The attack could not open its document.');
  const doc = new Y.Doc();
  doc.on('update', (update: Uint8Array) => socket.send(codec.update(update)));
  const text = doc.getText('text');
  const piece = 'some words of a long text that somebody wrote. '.repeat(200);
  while (text.length < bytes) text.insert(text.length, piece);
  const done = new Promise((resolve) => socket.once('close', resolve));
  socket.send(codec.step1(EMPTY_VECTOR));
  socket.on('message', (frame: Buffer) => {
    if (codec.read(frame).kind === 'step2') socket.close();
  });
  await done;
}

export const syncRequests: Attack = {
  what: 'a flood of SyncStep1 frames for a document of 2 MB',
  async prepare(ground) {
    const id = await openArtifact(ground);
    await fill(ground, id, 2 * 1024 * 1024);
    return (signal) => flood(ground, 0, `/v1/data/${id}/realtime/${DOCUMENT}`, signal, () => codec.step1(EMPTY_VECTOR));
  },
};

export const gappedUpdates: Attack = {
  what: 'updates that each miss the one before them',
  async prepare(ground) {
    const id = await openArtifact(ground);
    return (signal) => {
      let doc = new Y.Doc();
      let update: Uint8Array = new Uint8Array();
      doc.on('update', (made: Uint8Array) => {
        update = made;
      });
      let made = 0;
      const type = () => {
        made += 1;
        if (made % 5000 === 0) {
          doc = new Y.Doc();
          doc.on('update', (next: Uint8Array) => {
            update = next;
          });
        }
        doc.getText('text').insert(0, 'a');
      };
      return flood(ground, 0, `/v1/data/${id}/realtime/gaps`, signal, () => {
        type();
        // Every second update is left out.
        type();
        return codec.update(update);
      });
    };
  },
};

export const editFlood: Attack = {
  what: 'edits of four documents of one artifact at full speed',
  async prepare(ground) {
    const id = await openArtifact(ground);
    return async (signal) => {
      const writer = (index: number) => {
        const doc = new Y.Doc();
        let update: Uint8Array = new Uint8Array();
        doc.on('update', (made: Uint8Array) => {
          update = made;
        });
        let position = 0;
        return flood(ground, index, `/v1/data/${id}/realtime/flood${index}`, signal, () => {
          doc.getText('text').insert(position, 'a');
          position += 1;
          return codec.update(update);
        });
      };
      await Promise.all([0, 1, 2, 3].map(writer));
    };
  },
};

export const unreadDocuments: Attack = {
  what: '40 readers of a document of 5 MB that never read, but answer pings',
  async prepare(ground) {
    const id = await openArtifact(ground);
    await fill(ground, id, 5 * 1024 * 1024);
    return async (signal) => {
      for (let index = 0; index < 40; index++) {
        const path = `/v1/data/${id}/realtime/${DOCUMENT}`;
        void repeat(signal, 1, async () => {
          const socket = open(ground, index % 4, path);
          if (await opened(socket)) {
            socket.send(codec.step1(EMPTY_VECTOR));
            socket.pause();
            const ping = setInterval(() => socket.ping(), 1000);
            await Promise.race([aborted(signal), new Promise((resolve) => socket.once('close', resolve))]);
            clearInterval(ping);
          }
          socket.terminate();
          await new Promise((resolve) => setTimeout(resolve, 20));
        });
      }
      await aborted(signal);
    };
  },
};

export const namelessSockets: Attack = {
  what: '500 sockets without credentials, again and again',
  async prepare(ground) {
    const id = await openArtifact(ground);
    return async (signal) => {
      await repeat(signal, 500, async (lane) => {
        const socket = open(ground, lane % 8, `/v1/data/${id}/realtime`);
        if (await opened(socket)) await Promise.race([aborted(signal), new Promise((resolve) => socket.once('close', resolve))]);
        socket.terminate();
        await new Promise((resolve) => setTimeout(resolve, 50));
      });
    };
  },
};
