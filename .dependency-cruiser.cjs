/** Imports point one way: protocol <- actors <- src; bench and test may import all three, nothing imports them. */
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
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-unlisted-packages',
      severity: 'error',
      from: { path: '^(protocol|actors|src)' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs'],
    },
  },
};
