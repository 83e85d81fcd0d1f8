/** Peer: @y/websocket-server, set up like its own command, in memory. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

type Setup = (socket: unknown, request: unknown) => void;

export async function serveYWebsocket(file: string): Promise<void> {
  const { port } = JSON.parse(readFileSync(file, 'utf8')) as { port: number };
  const { setupWSConnection } = (await import('@y/websocket-server/utils')) as { setupWSConnection: Setup };
  const sockets = new WebSocketServer({ noServer: true });
  sockets.on('connection', setupWSConnection);
  const server = createServer((_, response) => response.end('ok'));
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request));
  });
  server.listen(port, '127.0.0.1');
}
