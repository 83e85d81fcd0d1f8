/** Peer: the minimum cost of the transport. Raw uWebSockets.js with a constant answer and only a content type. */
import uws from 'uWebSockets.js';
import { readFileSync } from 'node:fs';

export interface RawAnswers {
  readonly port: number;
  readonly json: string;
  readonly html: string;
}

export function serveRaw(file: string): void {
  const answers = JSON.parse(readFileSync(file, 'utf8')) as RawAnswers;
  const json = Buffer.from(answers.json);
  const html = Buffer.from(answers.html);
  uws
    .App()
    .get('/v1/*', (res) => {
      res.writeHeader('content-type', 'application/json').end(json);
    })
    .put('/v1/*', (res) => {
      res.onAborted(() => undefined);
      res.onData((_, isLast) => {
        if (isLast) res.cork(() => void res.writeHeader('content-type', 'application/json').end(json));
      });
    })
    .get('/page', (res) => {
      res.writeHeader('content-type', 'text/html; charset=utf-8').end(html);
    })
    .get('/ready', (res) => {
      res.end('ok');
    })
    .listen('127.0.0.1', answers.port, (socket) => {
      if (!socket) throw new Error(`Port ${answers.port} is in use.`);
    });
}
