/** `npm run bench -- http|data|realtime|neighbours|sharing|cluster|jobs|search [--quick] [--generator wrk|autocannon] [--only CASE] [--at ARTIFACTS] [--cpu-prof]`: compares Easel with its peers in the same run. */
import { parseArgs } from 'node:util';

const USAGE =
  'usage: npm run bench -- http|data|realtime|neighbours|sharing|cluster|jobs|search [--quick] [--generator wrk|autocannon] [--only CASE] [--at ARTIFACTS] [--cpu-prof]';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    generator: { type: 'string' },
    only: { type: 'string' },
    at: { type: 'string' },
    'cpu-prof': { type: 'boolean', default: false },
  },
});
const [command, argument = ''] = positionals;
const options = { quick: values.quick, cpuProfile: values['cpu-prof'], generator: values.generator, only: values.only };

// Peers and generators are separate processes, so that each can be pinned and its CPU time measured.
switch (command) {
  case 'http': {
    const { benchHttp } = await import('./http/http-suite.ts');
    conclude(await benchHttp(options));
    break;
  }
  case 'data': {
    const { benchData } = await import('./data/data-suite.ts');
    conclude(await benchData({ ...options, at: values.at === undefined ? undefined : Number(values.at) }));
    break;
  }
  case 'realtime': {
    const { benchRealtime } = await import('./realtime/realtime-suite.ts');
    conclude(await benchRealtime(options));
    break;
  }
  case 'neighbours': {
    const { benchNeighbours } = await import('./neighbours/neighbours-suite.ts');
    conclude(await benchNeighbours(options));
    break;
  }
  case 'sharing': {
    const { benchSharing } = await import('./sharing/sharing-suite.ts');
    conclude(await benchSharing(options));
    break;
  }
  case 'cluster': {
    const { benchCluster } = await import('./cluster/cluster-suite.ts');
    conclude(await benchCluster(options));
    break;
  }
  case 'jobs': {
    const { benchJobs } = await import('./jobs/jobs-suite.ts');
    conclude(await benchJobs(options));
    break;
  }
  case 'search': {
    const { benchSearch } = await import('./search/search-suite.ts');
    conclude(await benchSearch(options));
    break;
  }
  case 'generate-attack': {
    const { generateAttack } = await import('./neighbours/attacker.ts');
    await generateAttack(argument);
    break;
  }
  case 'peer-pg-boss': {
    const { servePgBoss } = await import('./peers/pg-boss.ts');
    await servePgBoss(argument);
    break;
  }
  case 'peer-sink': {
    const { serveSink } = await import('./peers/sink.ts');
    serveSink(argument);
    break;
  }
  case 'peer-relay': {
    const { serveRelay } = await import('./peers/relay.ts');
    serveRelay(argument);
    break;
  }
  case 'peer-y-websocket': {
    const { serveYWebsocket } = await import('./peers/y-websocket-server.ts');
    await serveYWebsocket(argument);
    break;
  }
  case 'peer-hocuspocus': {
    const { serveHocuspocus } = await import('./peers/hocuspocus.ts');
    await serveHocuspocus(argument);
    break;
  }
  case 'generate-editing': {
    const { generateEditing } = await import('./realtime/editing.ts');
    await generateEditing(argument);
    break;
  }
  case 'generate-joining': {
    const { generateJoining } = await import('./realtime/joining.ts');
    await generateJoining(argument);
    break;
  }
  case 'generate-crowd': {
    const { generateCrowd } = await import('./realtime/crowd.ts');
    await generateCrowd(argument);
    break;
  }
  case 'generate-holding': {
    const { generateHolding } = await import('./realtime/holding.ts');
    await generateHolding(argument);
    break;
  }
  case 'peer-raw': {
    const { serveRaw } = await import('./peers/raw.ts');
    serveRaw(argument);
    break;
  }
  case 'peer-fastify': {
    const { serveFastify } = await import('./peers/fastify.ts');
    await serveFastify(argument);
    break;
  }
  case 'generate-paced': {
    const { generatePaced } = await import('./load/paced.ts');
    await generatePaced(argument);
    break;
  }
  case 'generate': {
    const { generateWithAutocannon } = await import('./load/autocannon.ts');
    await generateWithAutocannon(argument);
    break;
  }
  default:
    console.error(USAGE);
    process.exitCode = 2;
}

function conclude(reached: boolean): void {
  console.log(reached ? '\nEvery aim was reached.' : '\nNot every aim was reached; see the verdicts above.');
}
