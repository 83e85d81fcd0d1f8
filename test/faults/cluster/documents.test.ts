/** People type through all nodes of a cluster while nodes and Redis fail: nothing acknowledged is lost, nothing doubles, all copies converge. */
import { expect, test } from 'vitest';
import { Typists } from '../../realtime/typists.ts';
import { Random } from '../../support/random.ts';
import { describeWith } from '../../support/services.ts';
import { publishTargets } from '../../support/writers.ts';
import { Cluster } from './cluster.ts';
import { STRIKES } from './strikes.ts';

const SEED = Number(process.env.CLUSTER_SEED ?? 1);
const ROUNDS = Number(process.env.CLUSTER_DOCUMENT_ROUNDS ?? 3);
const PIECES_BEFORE_STRIKE = 60;

describeWith('postgresUrl')('documents on a cluster', () => {
  test(
    `${ROUNDS} strikes while every stock provider types through every node, seed ${SEED}`,
    async () => {
      const random = new Random(SEED);
      const cluster = await Cluster.start(3);
      try {
        const targets = await publishTargets({ baseUrl: cluster.nodes[0]?.baseUrl ?? '' }, 2);
        const places = targets.map((target, at) => ({ ...target, document: `notes${at}` }));
        const typists = new Typists(
          cluster.nodes.map(({ baseUrl }) => baseUrl),
          places,
          random,
        );
        for (let round = 0; round < ROUNDS; round += 1) {
          const strike = random.pick(STRIKES);
          await typists.typeUntil(PIECES_BEFORE_STRIKE, () => strike.run(cluster, random));
          await cluster.heal();
          expect(await typists.findFaults(), strike.name).toEqual([]);
        }
        expect(typists.acknowledged).toBeGreaterThanOrEqual(ROUNDS * PIECES_BEFORE_STRIKE);
        typists.close();
      } finally {
        await cluster.close();
      }
    },
    ROUNDS * 180_000,
  );
});
