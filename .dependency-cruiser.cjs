/**
 * Imports point one way: protocol <- actors <- src; bench and test may import all three, nothing imports them. Inside src, app is the top and
 * platform the ground.
 */
module.exports = {
  forbidden: [
    {
      name: 'protocol-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^protocol' },
      to: { path: '^(actors|src|bench|test|deploy)' },
    },
    { name: 'protocol-does-no-io', severity: 'error', from: { path: '^protocol' }, to: { dependencyTypes: ['core'] } },
    { name: 'actors-import-only-protocol', severity: 'error', from: { path: '^actors' }, to: { path: '^(src|bench|test|deploy)' } },
    {
      name: 'actors-do-no-io',
      severity: 'error',
      comment: 'Storage, clock and network come in through ports.',
      from: { path: '^actors' },
      to: { dependencyTypes: ['core'] },
    },
    { name: 'nothing-imports-bench-or-test', severity: 'error', from: { path: '^(protocol|actors|src)' }, to: { path: '^(bench|test)' } },
    {
      name: 'only-app-imports-app',
      severity: 'error',
      comment: 'The composition is the only place that knows every part.',
      from: { path: '^(protocol|actors|src)', pathNot: '^src/app/' },
      to: { path: '^src/app/' },
    },
    {
      name: 'platform-is-the-ground',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/', pathNot: '^src/platform/' },
    },
    {
      name: 'storage-knows-no-callers',
      severity: 'error',
      comment:
        'shared-limiter.ts implements the port of the rate limiters, which edge/limits.ts declares, and shares code with the limiter in memory.',
      from: { path: '^src/storage/', pathNot: '^src/storage/shared-limiter\\.ts$' },
      to: { path: '^src/(app|edge|content|realtime|features|clients|mail)/' },
    },
    {
      name: 'features-know-no-clients',
      severity: 'error',
      from: { path: '^src/features/' },
      to: { path: '^src/clients/' },
    },
    {
      name: 'edge-knows-no-features',
      severity: 'error',
      comment: 'The edge calls handlers through the table, whatever they do.',
      from: { path: '^src/edge/' },
      to: { path: '^src/features/' },
    },
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-unlisted-packages',
      severity: 'error',
      from: { path: '^(protocol|actors|src)', pathNot: '^src/clients/web/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'only-known-packages-in-the-web-app',
      severity: 'error',
      comment: 'What it uses is bundled by the build, so a development dependency does.',
      from: { path: '^src/clients/web/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'the-web-app-bundles-no-server',
      severity: 'error',
      comment: 'Types of the endpoint table and of the client are free; their values would bring zod and the whole table into the browser.',
      from: { path: '^src/clients/web/' },
      to: {
        path: '^(protocol|actors|src)/',
        pathNot: '^(src/clients/web/|src/edge/tokens\\.ts$|src/clients/sdk/pieces\\.ts$|protocol/core/limits\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs'],
    },
  },
};
