/** Peer: the minimum of a Yjs server. Raw uWebSockets.js applies every update to a Y.Doc and publishes it, without storage or authentication. */
import uws from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import * as Y from 'yjs';
import { codecOf } from '../realtime/wire.ts';

const codec = codecOf('y-websocket', '');

export function serveRelay(file: string): void {
  const { port } = JSON.parse(readFileSync(file, 'utf8')) as { port: number };
  const documents = new Map<string, Y.Doc>();
  uws
    .App()
    .ws<{ room: string; doc: Y.Doc }>('/*', {
      maxPayloadLength: 64 * 1024 * 1024,
      maxBackpressure: 64 * 1024 * 1024,
      upgrade: (response, request, context) => {
        const room = request.getUrl();
        const doc = documents.get(room) ?? new Y.Doc();
        documents.set(room, doc);
        const key = request.getHeader('sec-websocket-key');
        response.upgrade(
          { room, doc },
          key,
          request.getHeader('sec-websocket-protocol'),
          request.getHeader('sec-websocket-extensions'),
          context,
        );
      },
      open: (socket) => {
        socket.subscribe(socket.getUserData().room);
        socket.send(codec.step1(Y.encodeStateVector(socket.getUserData().doc)), true);
      },
      message: (socket, message) => {
        const { room, doc } = socket.getUserData();
        const heard = codec.read(new Uint8Array(message));
        if (heard.kind === 'step1') {
          socket.send(codec.step2(Y.encodeStateAsUpdate(doc, heard.body)), true);
        } else if (heard.kind === 'update') {
          // Copied, because uWebSockets reuses the frame's memory and Yjs keeps references into it.
          Y.applyUpdate(doc, heard.body.slice());
          socket.publish(room, message, true);
        }
      },
    })
    .get('/ready', (response) => {
      response.end('ok');
    })
    .listen('127.0.0.1', port, (socket) => {
      if (!socket) throw new Error(`Port ${port} is in use.`);
    });
}
