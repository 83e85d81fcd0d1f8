// Builds the globals of scripts: one JavaScript expression that the sandbox evaluates before each script, and their types.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Writes `script-prelude.js` and `page/easel-jobs.d.ts` below `outdir`. */
export async function buildScriptSdk(root, outdir) {
  const built = await build({
    absWorkingDir: root,
    entryPoints: [join(root, 'src/clients/script/prelude.ts')],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    globalName: 'script',
    target: 'es2022',
    platform: 'neutral',
    legalComments: 'none',
    logLevel: 'warning',
  });
  writeFileSync(join(outdir, 'script-prelude.js'), `(()=>{${built.outputFiles[0].text.trim()}return script.start})()`);
  mkdirSync(join(outdir, 'page'), { recursive: true });
  writeFileSync(join(outdir, 'page/easel-jobs.d.ts'), types(root));
}

/** The text of the two files that contain only types, and the globals. Those of every JavaScript environment merge with its own types. */
function types(root) {
  const [wire, api] = ['src/clients/page/wire.ts', 'src/clients/script/api.ts'].map((name) =>
    readFileSync(join(root, name), 'utf8').replace(/^import type [^;]*;\n/gm, ''),
  );
  return `// Types of the scripts of jobs: /// <reference path="easel-jobs.d.ts" />
${wire}
${api}
declare global {
  const easel: Easel;
  /** The params of the job: JSON. */
  const params: any;
  interface Console {
    log(...values: any[]): void;
    info(...values: any[]): void;
    debug(...values: any[]): void;
    warn(...values: any[]): void;
    error(...values: any[]): void;
  }
  /** Each call is a line of the output of the run, which is cut at 64 KB. */
  var console: Console;
  /** What still waits when the script returns does not run. */
  function setTimeout<A extends any[]>(run: (...details: A) => void, ms?: number, ...details: A): number;
  function clearTimeout(id: number | undefined): void;
}
`;
}
