/** Placement of many artifacts on many nodes: balance, moves, and what Redis holds of it. */
import { Redis } from 'ioredis';
import { newId } from '../../protocol/core/ids.ts';
import { Members } from '../../src/cluster/placement/members.ts';

const HSET_AT_ONCE = 10_000;
/** As long as those of a node. */
const INCARNATION = 'AbCdEfGhIjK';

export interface Balance {
  /** Artifacts of the fullest and of the emptiest node, to the mean. */
  readonly fullest: number;
  readonly emptiest: number;
  /** Parts of all artifacts that move, and to or from other nodes than the one that comes or goes: 0 is right. */
  readonly movedByJoin: number;
  readonly movedByDeath: number;
  readonly movedNeedlessly: number;
  readonly choiceNs: number;
}

export function measureBalance(nodes: number, artifacts: number): Balance {
  const ids = Array.from({ length: artifacts }, () => newId('artifact'));
  const names = Array.from({ length: nodes }, (_, at) => `10.0.${Math.floor(at / 250)}.${at % 250}:8790`);
  const beganMs = performance.now();
  const before = chosen(names, ids);
  const choiceNs = ((performance.now() - beganMs) * 1e6) / artifacts;
  const counts = new Map<string, number>(names.map((name) => [name, 0]));
  for (const name of before) counts.set(name, (counts.get(name) ?? 0) + 1);
  const mean = artifacts / nodes;
  const [joined, dead] = ['10.9.9.9:8790', names[0] ?? ''];
  const afterJoin = chosen([...names, joined], ids);
  const afterDeath = chosen(names.slice(1), ids);
  const share = (test: (at: number) => boolean) => ids.filter((_, at) => test(at)).length / artifacts;
  return {
    fullest: Math.max(...counts.values()) / mean,
    emptiest: Math.min(...counts.values()) / mean,
    movedByJoin: share((at) => afterJoin[at] !== before[at]),
    movedByDeath: share((at) => afterDeath[at] !== before[at]),
    movedNeedlessly:
      share((at) => afterJoin[at] !== before[at] && afterJoin[at] !== joined) +
      share((at) => afterDeath[at] !== before[at] && before[at] !== dead),
    choiceNs,
  };
}

function chosen(names: readonly string[], ids: readonly string[]): readonly string[] {
  const members = new Members();
  members.update(names.map((address) => ({ address, incarnation: address, isDraining: false })));
  return ids.map((id) => members.chosen(id)?.address ?? '');
}

/** Bytes of Redis' memory for each claim, with so many in the hash `claims`. */
export async function measureClaimBytes(redisUrl: string, claims: number): Promise<number> {
  const redis = new Redis(redisUrl, { lazyConnect: true });
  await redis.connect();
  try {
    const before = await usedBytes(redis);
    for (let at = 0; at < claims; at += HSET_AT_ONCE) {
      const fields = Array.from({ length: HSET_AT_ONCE }, (_, next) => [newId('artifact'), `${INCARNATION} ${at + next}`]).flat();
      await redis.hset('claims', ...fields);
    }
    return ((await usedBytes(redis)) - before) / claims;
  } finally {
    await redis.del('claims');
    redis.disconnect();
  }
}

async function usedBytes(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}
