/** What jobs of the bench call: answers at once, and keeps how long after its due time each call came. */
import uws from 'uWebSockets.js';
import { readFileSync } from 'node:fs';

export interface SinkSettings {
  readonly port: number;
}

/** `/due/{Unix ms}` is a call that was due then; `/latenesses` answers and forgets the ms of those so far. */
export function serveSink(file: string): void {
  const { port } = JSON.parse(readFileSync(file, 'utf8')) as SinkSettings;
  let latenessesMs: number[] = [];
  uws
    .App()
    .get('/due/:ms', (res, req) => {
      latenessesMs.push(performance.timeOrigin + performance.now() - Number(req.getParameter(0)));
      res.end('ok');
    })
    .get('/latenesses', (res) => {
      res.writeHeader('content-type', 'application/json').end(JSON.stringify(latenessesMs));
      latenessesMs = [];
    })
    .get('/call', (res) => {
      res.end('ok');
    })
    .get('/ready', (res) => {
      res.end('ok');
    })
    .listen('127.0.0.1', port, (socket) => {
      if (!socket) throw new Error(`Port ${port} is in use.`);
    });
}
