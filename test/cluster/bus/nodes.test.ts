/** The bus between processes, over a real Redis that is cut off, killed and started again. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { NetworkLink } from '../../faults/cluster/network-link.ts';
import { type ClusterNode, testCluster } from '../../support/cluster.ts';
import { wire } from '../../support/page-requests.ts';
import { hasRedisServer, type RedisServer, redisServer } from '../../support/redis-server.ts';
import { services } from '../../support/services.ts';

const describeCluster = services().postgresUrl === null || services().redisUrl === null ? describe.skip : describe;
/** Without the program a Redis that may be killed cannot be had. */
const describeWithProgram = services().postgresUrl === null || !hasRedisServer() ? describe.skip : describe;

interface Account {
  readonly token: string;
}

/** What a node answers to a write without its lease, which a busy machine may cost it: nothing has happened. */
const LOST_TOUCH = 'lost touch';

// biome-ignore lint/suspicious/noExplicitAny: the answers are checked by what the test does with them.
async function call(...given: Parameters<typeof callOnce>): Promise<any> {
  for (;;) {
    try {
      return await callOnce(...given);
    } catch (error) {
      if (!String(error).includes(LOST_TOUCH)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the same
async function callOnce({ baseUrl }: ClusterNode, path: string, { token }: Partial<Account>, method = 'POST', body?: object): Promise<any> {
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.status === 204 ? undefined : response.json();
}

const newAccount = (node: ClusterNode): Promise<Account> => call(node, '/v1/auth/create-account', {});

async function statusOf({ baseUrl }: ClusterNode, token: string): Promise<number> {
  return (await fetch(`${baseUrl}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status;
}

async function isInDoubt({ baseUrl }: ClusterNode): Promise<boolean> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return /^easel_bus_in_doubt 1$/m.test(text);
}

/** From here on only what a node hears makes it forget what it has cached. */
async function certain(...nodes: ClusterNode[]): Promise<void> {
  for (const node of nodes) await expect.poll(() => isInDoubt(node)).toBe(false);
}

/** Another token of the account, which the node has in its cache. */
async function warmToken(maker: ClusterNode, at: ClusterNode, account: Account): Promise<{ readonly id: string; readonly token: string }> {
  const made = await call(maker, '/v1/me/tokens', account, 'POST', { name: 'second' });
  expect([await statusOf(at, made.token), await statusOf(at, made.token)]).toEqual([200, 200]);
  return made;
}

const revoke = (node: ClusterNode, account: Account, id: string) => call(node, `/v1/me/tokens/${id}`, account, 'DELETE');
const revokeOnce = (node: ClusterNode, account: Account, id: string) => callOnce(node, `/v1/me/tokens/${id}`, account, 'DELETE');

describeCluster('what ends on one node is over on the other', () => {
  it('a token, and a page', async () => {
    const cluster = await testCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    // Public pages need a paid plan, which the administrator has.
    const account = { token: one.adminToken ?? '' };
    const files = [{ path: 'index.html', content: '<h1>shown</h1>' }];
    const published = await call(one, '/v1/publish', account, 'POST', { name: 'Page', files, visibility: 'public' });
    const host = `${published.deployment.slug}.localhost`;
    const page = async ({ baseUrl }: ClusterNode) =>
      (await wire(Number(new URL(baseUrl).port), `${host}:${new URL(baseUrl).port}`, '/')).status;
    await certain(one, other);
    const { id, token } = await warmToken(one, other, account);
    expect([await page(other), await page(other)]).toEqual([200, 200]);
    await revoke(one, account, id);
    await expect.poll(() => statusOf(other, token), { interval: 20 }).toBe(401);
    await call(one, `/v1/artifacts/${published.artifact.id}`, account, 'DELETE');
    await expect.poll(() => page(other), { interval: 20 }).toBe(404);
  });
});

/** Two nodes that reach Redis by a link each. */
async function linked(redis?: RedisServer) {
  const { hostname, port } = new URL(redis?.url ?? services().redisUrl ?? '');
  const [oneLink, otherLink] = [await NetworkLink.to(hostname, Number(port || 6379)), await NetworkLink.to(hostname, Number(port || 6379))];
  const cluster = await testCluster();
  const [one, other] = await Promise.all(
    [oneLink, otherLink].map((link) => cluster.start({ REDIS_URL: `redis://127.0.0.1:${link.port}` })),
  );
  onTestFinished(async () => {
    await Promise.all([oneLink.close(), otherLink.close()]);
  });
  if (one === undefined || other === undefined) throw new Error('two were started');
  return { one, other, oneLink, otherLink };
}

describeCluster('what ends on one node is over on the other while one of them does not reach Redis', () => {
  const CUTS: Readonly<Record<string, (links: { oneLink: NetworkLink; otherLink: NetworkLink }) => void>> = {
    'the one that tells is cut off': ({ oneLink }) => oneLink.cut(),
    'what it sends goes nowhere': ({ oneLink }) => oneLink.hold('there'),
    'C10: the one that hears is cut off': ({ otherLink }) => otherLink.cut(),
    'C11: nothing arrives there, and its connection stays open': ({ otherLink }) => otherLink.hold('back'),
  };

  it.each(Object.entries(CUTS))('%s, and afterwards too', async (_name, cut) => {
    const { one, other, ...links } = await linked();
    const account = await newAccount(one);
    await certain(one, other);
    const [first, second] = [await warmToken(one, other, account), await warmToken(one, other, account)];
    cut(links);
    // It may write until its lease ends. The test may be slower than that, then the node refuses to write.
    const isRevoked = await revokeOnce(one, account, first.id).then(
      () => true,
      (error) => {
        expect(String(error)).toContain(LOST_TOUCH);
        return false;
      },
    );
    if (isRevoked) await expect.poll(() => statusOf(other, first.token), { interval: 20 }).toBe(401);
    else expect(await statusOf(other, first.token)).toBe(200);
    for (const link of Object.values(links)) link.heal();
    await certain(one, other);
    expect(await statusOf(other, second.token)).toBe(200);
    await revoke(one, account, second.id);
    await expect.poll(() => statusOf(other, second.token), { interval: 20 }).toBe(401);
  });
});

describeWithProgram('a Redis that is killed and comes back empty', () => {
  it('C10: nodes that do not reach it read on, write nothing that others must hear of, and hear again afterwards', async () => {
    const redis = await redisServer();
    const { one, other } = await linked(redis);
    const account = await newAccount(one);
    await certain(one, other);
    const { id, token } = await warmToken(one, other, account);
    await redis.kill();
    // Its lease ends by itself.
    const write = () => revokeOnce(one, account, 'tok_000000000000000000000000').catch(String);
    await expect.poll(write, { interval: 50 }).toContain(LOST_TOUCH);
    expect([await statusOf(one, token), await statusOf(other, token)]).toEqual([200, 200]);
    expect([await isInDoubt(one), await isInDoubt(other)]).toEqual([true, true]);
    await redis.start();
    await certain(one, other);
    expect(await statusOf(other, token)).toBe(200);
    await revoke(one, account, id);
    await expect.poll(() => statusOf(other, token), { interval: 20 }).toBe(401);
  });
});
