/** A small SMTP server in this process that accepts mail or gives the answers of a test. */

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body as received, with lines separated by a newline. */
  readonly text: string;
}

export interface TestSmtp {
  readonly url: string;
  readonly taken: readonly TakenMail[];
  /** Answers to the next recipients, or to the next of this address; they are accepted by default. Undefined closes the connection. */
  refuse(answer: string | undefined, times: number, address?: string): void;
  /** Resolves when so many mails have been accepted since the start. */
  took(count: number): Promise<void>;
  close(): Promise<void>;
}

interface Refusal {
  readonly answer: string | undefined;
  readonly address: string | undefined;
}

export async function startSmtp(): Promise<TestSmtp> {
  const taken: TakenMail[] = [];
  const waiting: { readonly count: number; readonly done: () => void }[] = [];
  const refusals: Refusal[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.setEncoding('utf8'));
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    converse(socket, refusals, (mail) => {
      taken.push(mail);
      for (const one of waiting) if (taken.length >= one.count) one.done();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    refuse: (answer, times, address) => void refusals.push(...Array<Refusal>(times).fill({ answer, address })),
    took: (count) => (taken.length >= count ? Promise.resolve() : new Promise((done) => waiting.push({ count, done }))),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Serves one session with the needed part of RFC 5321. */
function converse(socket: Socket, refusals: Refusal[], take: (mail: TakenMail) => void): void {
  let from = '';
  let to: string[] = [];
  let body: string[] | undefined;
  let rest = '';
  const say = (line: string) => socket.write(`${line}\r\n`);
  const recipient = (address: string) => {
    const at = refusals.findIndex((refusal) => refusal.address === undefined || refusal.address === address);
    if (at === -1) {
      to.push(address);
      return say('250 ok');
    }
    const [{ answer } = {}] = refusals.splice(at, 1);
    return answer === undefined ? socket.destroy() : say(answer);
  };
  const content = (lines: string[], line: string) => {
    if (line !== '.') return void lines.push(line.replace(/^\.\./, '.'));
    body = undefined;
    take({ from, to, text: lines.join('\n') });
    to = [];
    return say('250 taken');
  };
  const command = (line: string) => {
    const [, address = ''] = /<([^>]*)>/.exec(line) ?? [];
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'MAIL') from = address;
    if (verb === 'RCPT') return recipient(address);
    if (verb === 'DATA') {
      body = [];
      return say('354 go on');
    }
    if (verb === 'QUIT') return socket.end('221 bye\r\n');
    return say('250 ok');
  };
  say('220 ready');
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (body === undefined) command(line);
      else content(body, line);
    }
  });
}
