/**
 * Random requests to every endpoint under `/v1/data` of the built program, beside a hostile neighbour: none makes it fail, hang or leak memory.
 * FUZZ_REQUESTS and FUZZ_SEED set their number and the seed; FUZZ_REQUESTS=100000 also prints the memory after each phase.
 */
import { expect, test } from 'vitest';
import { ERRORS } from '../../protocol/core/errors.ts';
import { errorCodesOf } from '../../protocol/core/openapi.ts';
import { endpoints } from '../../protocol/table.ts';
import { createServerDatabase, temporaryDir } from '../support/database.ts';
import { type Program, startProgram } from '../support/program.ts';
import { describeWith } from '../support/services.ts';
import { publishTargets, type Target } from '../support/writers.ts';
import { HostileNeighbour } from './hostile-neighbour.ts';
import { complaints, INSPECTED, type Memory, memoryOf } from './inspected-memory.ts';
import { type FuzzRequest, fuzzRequests } from './random-requests.ts';

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 5000);
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);
const CONNECTIONS = 16;
const PRINTED_FROM = 20_000;
/** A request that takes longer hangs, also on a busy machine. */
const HANG_MS = 120_000;
/** Memory is measured after each phase, while no request is in flight. */
const PHASES = 10;
/** In these first phases caches fill, code is compiled and artifacts reach their final size. */
const WARM_PHASES = 4;
/** Largest growth of live memory, on the heap and outside, after the warm phases. */
const GROWTH_BYTES_MAX = 4 * 1024 * 1024;
/** So many that the limits of an artifact are not reached. */
const ARTIFACTS = Number(process.env.FUZZ_ARTIFACTS ?? Math.min(200, Math.ceil(REQUESTS / 500)));
const PUBLISHED_PER_ACCOUNT = 50;

interface Outcome {
  readonly statuses: Map<number, number>;
  readonly problems: string[];
  /** After each phase. */
  readonly memory: Memory[];
}

async function publish(program: Program, count: number): Promise<readonly Target[]> {
  const targets: Target[] = [];
  while (targets.length < count) targets.push(...(await publishTargets(program, Math.min(PUBLISHED_PER_ACCOUNT, count - targets.length))));
  return targets;
}

/** Sends a request; answers what is wrong with the reply, or undefined. */
async function send(program: Program, request: FuzzRequest, target: Target, outcome: Outcome): Promise<string | undefined> {
  const headers = new Headers(request.headers);
  if (request.asOwner) headers.set('authorization', `Bearer ${target.token}`);
  const body = request.body === undefined ? {} : { body: new Uint8Array(request.body) };
  const url = program.baseUrl + request.path.replace('{artifact}', target.artifactId);
  const reply = await fetch(url, { method: request.method, headers, ...body, signal: AbortSignal.timeout(HANG_MS) });
  outcome.statuses.set(reply.status, (outcome.statuses.get(reply.status) ?? 0) + 1);
  if (reply.headers.get('content-type')?.startsWith('text/event-stream')) {
    await reply.body?.cancel();
    return undefined;
  }
  const text = await reply.text();
  if (reply.status >= 500) return `${reply.status} ${text}`;
  if (reply.status < 400 || text === '') return undefined;
  const { code } = JSON.parse(text) as { code: keyof typeof ERRORS };
  if (ERRORS[code]?.status !== reply.status) return `${reply.status} with ${code}`;
  // An empty name, or one with a slash, leads to another path.
  const isElsewhere = code === 'NOT_FOUND' || code === 'METHOD_NOT_ALLOWED' || !sameRoute(request);
  return isElsewhere || errorCodesOf(endpoints[request.id]).includes(code) ? undefined : `${code} is not declared`;
}

/** Whether the path, as fetch normalises it, still belongs to this endpoint. */
function sameRoute({ id, path }: FuzzRequest): boolean {
  const given = new URL(path.replace('{artifact}', 'a'), 'http://x').pathname.split('/');
  const declared = endpoints[id].path.split('/');
  return (
    given.length === declared.length &&
    declared.every((segment, at) => (segment.startsWith('{') ? !endpointWords.has(given[at] ?? '') : segment === given[at]))
  );
}

const endpointWords = new Set(
  Object.values(endpoints).flatMap(({ path }) => path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{'))),
);

async function fuzz(program: Program, targets: readonly Target[], neighbour: HostileNeighbour): Promise<Outcome> {
  const outcome: Outcome = { statuses: new Map(), problems: [], memory: [] };
  const requests = fuzzRequests(REQUESTS, SEED);
  let sent = 0;
  const work = async (upTo: number) => {
    while (sent < upTo) {
      const target = targets[sent % targets.length] as Target;
      sent += 1;
      const { value: request } = requests.next();
      if (request === undefined) return;
      const problem = await send(program, request, target, outcome).catch((error: unknown) => String(error));
      if (problem !== undefined) {
        const { body, ...rest } = request;
        outcome.problems.push(
          `${problem}\n  ${JSON.stringify(rest)} ${Buffer.from(body ?? [])
            .toString('latin1')
            .slice(0, 300)}`,
        );
      }
    }
  };
  for (let phase = 1; phase <= PHASES; phase += 1) {
    // Memory is measured without him.
    await neighbour.during(() => Promise.all(Array.from({ length: CONNECTIONS }, () => work(Math.ceil((REQUESTS * phase) / PHASES)))));
    outcome.memory.push(await memoryOf(program));
  }
  return outcome;
}

const aliveBytes = ({ heapUsed, external }: Memory) => heapUsed + external;
const mb = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

describeWith('postgresUrl')('fuzz', () => {
  test(`${REQUESTS} requests (seed ${SEED})`, { timeout: 60_000 + REQUESTS * 30 }, async () => {
    const database = await createServerDatabase();
    const folder = temporaryDir();
    const program = await startProgram({ DATA_DIR: folder.path, DATABASE_URL: database.url, ...INSPECTED });
    const neighbour = await HostileNeighbour.of(program);
    try {
      const targets = await publish(program, ARTIFACTS);
      const { problems, statuses, memory } = await fuzz(program, targets, neighbour);
      expect(neighbour.answers).toBeGreaterThan(0);
      expect(problems.slice(0, 5)).toEqual([]);
      expect(complaints(program)).toBe('');
      // Some requests must have succeeded, and some must have been refused.
      expect([statuses.has(200), statuses.has(201), statuses.has(400), statuses.has(404)]).toEqual([true, true, true, true]);
      if (REQUESTS >= PRINTED_FROM) {
        const lines = memory.map((one) =>
          Object.entries(one)
            .map(([name, bytes]) => `${name} ${mb(bytes)}`)
            .join(', '),
        );
        process.stdout.write(`${JSON.stringify([...statuses])}\n${lines.join('\n')}\n`);
      }
      const [warm, end] = [memory[WARM_PHASES - 1], memory.at(-1)];
      if (warm === undefined || end === undefined) throw new Error('memory was not measured');
      expect(aliveBytes(end) - aliveBytes(warm)).toBeLessThan(GROWTH_BYTES_MAX);
    } finally {
      neighbour.close();
      await program.end('SIGTERM');
      await database.drop();
      folder.remove();
    }
  });
});
