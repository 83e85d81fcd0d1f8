/** `npm run bench -- http|data [--quick] [--generator wrk|autocannon] [--only CASE] [--at ARTIFACTS] [--cpu-prof]`: what Easel costs, beside peers in the same run. */
import { parseArgs } from 'node:util';

const USAGE = 'usage: npm run bench -- http|data [--quick] [--generator wrk|autocannon] [--only CASE] [--at ARTIFACTS] [--cpu-prof]';

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

// Peers and the generator are processes of their own, so that each can be pinned and its CPU time read.
switch (command) {
  case 'http': {
    const { benchHttp } = await import('./http.ts');
    conclude(await benchHttp(options));
    break;
  }
  case 'data': {
    const { benchData } = await import('./data.ts');
    conclude(await benchData({ ...options, at: values.at === undefined ? undefined : Number(values.at) }));
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
    const { generatePaced } = await import('./paced.ts');
    await generatePaced(argument);
    break;
  }
  case 'generate': {
    const { generateWithAutocannon } = await import('./autocannon.ts');
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
