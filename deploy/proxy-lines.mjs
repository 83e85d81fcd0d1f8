// Prints the lines of deploy/proxy/haproxy.cfg by which HAProxy chooses the node that owns an artifact, as the nodes do:
// `node deploy/proxy-lines.mjs node1=node1:8790 node2=node2:8790`, each a server of the file and the PEER_ADDRESS of that node.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const bundle = await build({
  absWorkingDir: join(dirname(fileURLToPath(import.meta.url)), '..'),
  entryPoints: ['src/cluster/placement/xxh32.ts'],
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
});
const { xxh32 } = await import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString('base64')}`);

const nodes = process.argv.slice(2).map((argument) => {
  const [, name, address] = /^([\w.-]+)=(\S+:\d+)$/.exec(argument) ?? [];
  return { argument, name, address };
});
const wrong = nodes.find(({ name }) => name === undefined);
if (nodes.length === 0 || wrong !== undefined) {
  console.error(
    `${wrong === undefined ? 'No node is given' : `${wrong.argument} is not name=host:port`}. Example: node deploy/proxy-lines.mjs node1=node1:8790 node2=node2:8790`,
  );
  process.exit(2);
}

// A node that is not up has no rank; `srv_is_up` tells only of servers with checks of their own, which are those of by_key. The first with none above it behind it is the highest: those before it had a higher one behind them.
const lines = nodes.flatMap(({ name, address }) => [
  `http-request set-var(txn.${name}) int(-1)`,
  `http-request set-var(txn.${name}) var(txn.artifact),xxh32(${xxh32(address)}) if { srv_is_up(by_key/${name}) }`,
]);
for (const [at, { name }] of nodes.entries()) {
  const behind = nodes.slice(at + 1).map((other) => ` { var(txn.${name}),sub(txn.${other.name}) ge 0 }`);
  lines.push(`use-server ${name} if${behind.join('') || ' TRUE'}`);
}
for (const line of lines) console.log(`  ${line}`);
