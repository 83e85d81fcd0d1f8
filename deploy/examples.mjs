// Builds the examples: copies them, and bundles the editor with its packages. Yjs stays external, because the page loads it from the SDK.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

export async function buildExamples(root, outdir) {
  const from = join(root, 'deploy/examples');
  cpSync(from, join(outdir, 'examples'), { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: [join(from, 'editor/editor.js')],
    outfile: join(outdir, 'examples/editor/editor.js'),
    bundle: true,
    format: 'esm',
    minify: true,
    // Browsers with top-level await.
    target: ['chrome92', 'firefox90', 'safari15'],
    external: ['/sdk.mjs', 'yjs', 'y-protocols/awareness'],
    legalComments: 'none',
    logLevel: 'warning',
  });
}
