// The SDK of published pages: one expression in JavaScript, which the server completes with the artifact's id, and its types.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Writes `page/sdk.core.js` and `page/sdk.d.ts` below `outdir`. */
export async function buildPageSdk(root, outdir) {
  const folder = join(root, 'src/clients/page');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(folder, 'sdk.ts')],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    globalName: 'page',
    // Browsers since 2021.
    target: ['es2021', 'chrome92', 'firefox90', 'safari15'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  mkdirSync(join(outdir, 'page'), { recursive: true });
  writeFileSync(join(outdir, 'page/sdk.core.js'), `(site=>{${outputFiles[0].text.trim()}return page.start(site)})`);
  writeFileSync(join(outdir, 'page/sdk.d.ts'), types(folder));
}

/** The types stand in two files without code, so that their text is the declaration. */
function types(folder) {
  const [wire, api] = ['wire.ts', 'api.ts'].map((name) => readFileSync(join(folder, name), 'utf8').replace(/^import type .*\n/gm, ''));
  return `// Types of /sdk.js (the global "easel") and /sdk.mjs (the same as exports).
${wire}
${api}
export declare const easel: Easel;
export declare const EaselError: EaselErrorClass;
export declare const connect: Easel['connect'];

declare global {
  const easel: Easel;
}
`;
}
