/** Attacks by requests: what may be asked for over HTTP that costs the server much more than the caller. */
import { type Attack, Attacker, aborted, type Ground, holdConnection, lanesOf, must, openArtifact, repeat } from './attack.ts';

const MB = 1024 * 1024;
const TABLE_ROWS = 100_000;
const ROWS_EACH = 500;

export const hugeBodies: Attack = {
  what: 'publishing 30 MB of empty objects as files',
  async prepare(ground) {
    const body = Buffer.from(`{"files":[${'{},'.repeat(10 * MB)}{}]}`);
    const { token } = ground;
    const by = lanesOf(ground, 2);
    return (signal) => repeat(signal, 2, (lane) => by(lane).send({ method: 'POST', path: '/v1/publish', token, body }));
  },
};

export const anonymousBodies: Attack = {
  what: 'anonymous inserts of 8 MB into an open table',
  async prepare(ground) {
    const id = await openArtifact(ground);
    const body = Buffer.from(`{"rows":[${'{"a":1},'.repeat(900_000)}{"a":1}]}`);
    const by = lanesOf(ground, 4);
    return (signal) => repeat(signal, 4, (lane) => by(lane).send({ method: 'POST', path: `/v1/data/${id}/tables/t`, body }));
  },
};

export const announcedBodies: Attack = {
  what: 'twenty bodies of 140 MB that are announced and never sent',
  async prepare(ground) {
    const head = `POST /v1/publish HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${ground.token}\r\nContent-Type: application/json\r\nContent-Length: ${140 * MB}\r\n\r\n{`;
    return async (signal) => {
      for (let index = 0; index < 20; index++) holdConnection(ground, index, head, signal);
      await aborted(signal);
    };
  },
};

/** An open artifact with a table of 100 000 rows. */
async function largeTable(ground: Ground): Promise<string> {
  const id = await openArtifact(ground);
  const attacker = new Attacker(ground);
  for (let first = 0; first < TABLE_ROWS; first += ROWS_EACH) {
    const rows = Array.from({ length: ROWS_EACH }, (_, at) => ({ n: first + at, text: `row ${first + at} ${'lorem ipsum '.repeat(8)}` }));
    await must(attacker.send({ method: 'POST', path: `/v1/data/${id}/tables/big`, token: ground.token, body: JSON.stringify({ rows }) }));
  }
  return id;
}

export const expensiveReads: Attack = {
  what: 'anonymous counts with 32 $contains over 100 000 rows',
  async prepare(ground) {
    const id = await largeTable(ground);
    const filter = { $or: Array.from({ length: 32 }, (_, at) => ({ text: { $contains: `absent ${at}` } })) };
    const body = JSON.stringify({ filter });
    const by = lanesOf(ground, 4);
    return (signal) => repeat(signal, 4, (lane) => by(lane).send({ method: 'POST', path: `/v1/data/${id}/tables/big/count`, body }));
  },
};

export const expensiveTurns: Attack = {
  what: 'atomic batches of 100 increments inside a value of 1 MB',
  async prepare(ground) {
    const id = await openArtifact(ground);
    const attacker = new Attacker(ground);
    const value = JSON.stringify({ n: 0, list: Array.from({ length: 100_000 }, (_, at) => at) });
    await must(attacker.send({ method: 'PUT', path: `/v1/data/${id}/json/big`, token: ground.token, body: value }));
    const requests = Array.from({ length: 100 }, () => ({
      method: 'PATCH',
      path: '/json/big',
      body: { op: 'increment', path: '$.n', by: 1 },
    }));
    const body = JSON.stringify({ atomic: true, requests });
    const by = lanesOf(ground, 2);
    return (signal) => repeat(signal, 2, (lane) => by(lane).send({ method: 'POST', path: `/v1/data/${id}/batch`, body }));
  },
};

export const idempotentReads: Attack = {
  what: 'queries of 4 MB, each with an Idempotency-Key of its own',
  async prepare(ground) {
    const id = await openArtifact(ground);
    const attacker = new Attacker(ground);
    const rows = Array.from({ length: 50 }, (_, n) => ({ n, text: 'x'.repeat(90_000) }));
    await must(attacker.send({ method: 'POST', path: `/v1/data/${id}/tables/wide`, token: ground.token, body: JSON.stringify({ rows }) }));
    let key = 0;
    const by = lanesOf(ground, 4);
    return (signal) =>
      repeat(signal, 4, (lane) => {
        key += 1;
        const headers = { 'idempotency-key': `a-key-of-its-own-${key}` };
        return by(lane).send({ method: 'POST', path: `/v1/data/${id}/tables/wide/query`, headers, body: '{"limit":50}' });
      });
  },
};

export const unreadAnswers: Attack = {
  what: '200 anonymous connections that ask for 4 MB and read nothing',
  async prepare(ground) {
    const id = await openArtifact(ground);
    const attacker = new Attacker(ground);
    const rows = Array.from({ length: 50 }, (_, n) => ({ n, text: 'x'.repeat(90_000) }));
    await must(attacker.send({ method: 'POST', path: `/v1/data/${id}/tables/wide`, token: ground.token, body: JSON.stringify({ rows }) }));
    const text = `GET /v1/data/${id}/tables/wide/rows?limit=50 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
    return async (signal) => {
      for (let index = 0; index < 200; index++) holdConnection(ground, index % 4, text, signal);
      await aborted(signal);
    };
  },
};

export const refusedConditionalReads: Attack = {
  what: 'conditional reads inside a value of 1 MB, most of them beyond the limit of its artifact',
  async prepare(ground) {
    const id = await openArtifact(ground);
    const attacker = new Attacker(ground);
    const value = JSON.stringify({ list: Array.from({ length: 100_000 }, (_, at) => at) });
    await must(attacker.send({ method: 'PUT', path: `/v1/data/${id}/json/big`, token: ground.token, body: value }));
    const headers = { 'if-none-match': '"x"' };
    const by = lanesOf(ground, 4);
    return (signal) =>
      repeat(signal, 4, (lane) => by(lane).send({ method: 'GET', path: `/v1/data/${id}/json/big?path=$.list[5]`, headers }));
  },
};
