// `npm run cluster`: nodes of one installation on this machine, one for each core and at least three, behind a small proxy, for whoever wants to see
// them work together. It needs Postgres and Redis: DATABASE_URL and REDIS_URL, else those at 127.0.0.1. Not for production: see deploy/compose.yml.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import postgres from 'postgres';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = process.env.DATA_DIR ?? 'data-cluster';
const port = Number(process.env.PORT ?? 8787);
const redisUrl = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const databaseUrl = process.env.DATABASE_URL ?? 'postgres://127.0.0.1:5432/easel_cluster';
const count = Number(process.env.NODES ?? Math.max(3, availableParallelism()));

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Creates the database where it is missing. */
async function prepareDatabase() {
  const url = new URL(databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const sql = postgres(url.href, { max: 1, onnotice: () => undefined, connect_timeout: 5 });
  try {
    const found = await sql`select from pg_database where datname = ${name}`;
    if (found.length === 0) await sql`create database ${sql(name)}`;
  } catch (error) {
    fail(`Postgres does not answer at ${url.host} (${error.code ?? error.message}). Start it, or set DATABASE_URL.`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function requireRedis() {
  const { hostname, port: redisPort } = new URL(redisUrl);
  const socket = connect(Number(redisPort || 6379), hostname);
  try {
    await once(socket, 'connect');
  } catch (error) {
    fail(`Redis does not answer at ${hostname}:${redisPort || 6379} (${error.code}). Start it, or set REDIS_URL.`);
  }
  socket.destroy();
}

/** The same at the next start: an installation's keys in Redis go by it. */
function secret() {
  const file = join(folder, 'cluster.secret');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

/** The nodes' own choice, so that hardly a call is forwarded. */
async function loadMembers() {
  const entryPoints = ['src/cluster/placement/members.ts'];
  const bundle = await build({ absWorkingDir: root, entryPoints, bundle: true, write: false, format: 'esm', platform: 'node' });
  const { Members } = await import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString('base64')}`);
  return new Members();
}

function startNode(at, shared) {
  const own = { PORT: String(port + at), PEER_ADDRESS: `127.0.0.1:${port + 100 + at}`, DATA_DIR: join(folder, `node${at}`) };
  const main = join(process.env.BUILD_DIR ?? join(root, 'dist'), 'main.js');
  const child = spawn(process.execPath, ['--enable-source-maps', '--max-semi-space-size=32', main], {
    env: { ...process.env, ...shared, ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C comes to this process, which ends the nodes.
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', (line) => console.log(`node${at} | ${line}`));
  return { name: `node${at}`, port: port + at, peerAddress: own.PEER_ADDRESS, child, isUp: false };
}

/** Whether nodes are up, asked once a second as a proxy does. */
function watch(nodes, members) {
  const ask = async (node) => {
    const status = await fetch(`http://127.0.0.1:${node.port}/readyz`, { headers: { connection: 'close' } }).then(
      (answer) => answer.status,
      () => 0,
    );
    node.isUp = status === 200;
    members.update(
      nodes.filter(({ isUp }) => isUp).map(({ name, peerAddress }) => ({ address: peerAddress, incarnation: name, isDraining: false })),
    );
  };
  const askAll = () => Promise.all(nodes.map(ask));
  const timer = setInterval(() => void askAll(), 1000);
  return { askAll, stop: () => clearInterval(timer) };
}

function startProxy(nodes, members) {
  const agent = new Agent({ keepAlive: true });
  const nodeFor = ({ url, headers }) => {
    const [, id = String(headers.host)] = /^\/v1\/data\/([^/?]+)/.exec(url) ?? [];
    return nodes.find(({ name }) => name === members.chosen(id)?.incarnation);
  };
  const headersOf = ({ headers, socket }) => ({ ...headers, 'x-forwarded-for': socket.remoteAddress, 'x-forwarded-proto': 'http' });
  const server = createServer((incoming, outgoing) => {
    const node = nodeFor(incoming);
    if (node === undefined) {
      outgoing.writeHead(503, { 'retry-after': '1' }).end('No node is up.\n');
      return;
    }
    const { method, url: path } = incoming;
    const asked = request({ host: '127.0.0.1', port: node.port, method, path, headers: headersOf(incoming), agent }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    asked.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(503, { 'retry-after': '1' }).end()));
    outgoing.on('close', () => asked.destroy());
    incoming.pipe(asked);
  });
  server.on('upgrade', (incoming, near, early) => {
    const node = nodeFor(incoming);
    if (node === undefined) {
      near.destroy();
      return;
    }
    const far = connect(node.port, '127.0.0.1', () => {
      const lines = Object.entries(headersOf(incoming)).map(([name, value]) => `${name}: ${value}`);
      far.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      far.write(early);
      near.pipe(far).pipe(near);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ])
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  server.on('error', (error) => fail(`Cannot listen on port ${port} (${error.code}). Set PORT to another; the nodes use those after it.`));
  server.listen(port, '127.0.0.1');
  return server;
}

await prepareDatabase();
await requireRedis();
mkdirSync(folder, { recursive: true });
const members = await loadMembers();
const shared = {
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  CLUSTER_SECRET: secret(),
  OBJECTS_DIR: join(folder, 'objects'),
  BASE_URL: `http://localhost:${port}`,
  CONTENT_HOST: `localhost:${port}`,
  TRUST_PROXY: 'true',
};
// One after the other: the first makes the tables and says how to begin.
const nodes = [];
const watching = watch(nodes, members);
const ended = [];
let isStopping = false;
for (let at = 1; at <= count && !isStopping; at += 1) {
  const node = startNode(at, shared);
  nodes.push(node);
  ended.push(
    once(node.child, 'exit').then(([code]) => console.log(`node${at} has ended${isStopping ? '' : `, code ${code}: the others go on`}.`)),
  );
  if (at === 1) process.on('SIGINT', stop).on('SIGTERM', stop);
  while (!node.isUp && node.child.exitCode === null && !isStopping) {
    await watching.askAll();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
const proxy = startProxy(nodes, members);
await once(proxy, 'listening');
console.log(
  `\n${count} nodes are up behind http://localhost:${port}. Each alone: ${nodes.map((node) => `http://localhost:${node.port}`).join(', ')}. Ctrl-C ends them.`,
);
await Promise.all(ended);
watching.stop();
proxy.close();
proxy.closeAllConnections();

function stop() {
  if (isStopping) return;
  isStopping = true;
  console.log('The nodes finish their work.');
  for (const { child } of nodes) child.kill('SIGTERM');
}
