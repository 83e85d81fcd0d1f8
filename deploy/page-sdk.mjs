// Builds the scripts of published pages: the SDK (one JavaScript expression, which the server calls with the artifact's id), its types, and the
// comment overlay and the chat box.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

// Browsers since 2021. Named by browser, because a target such as es2021 would transpile private fields, which all of them support.
const TARGET = ['chrome92', 'firefox90', 'safari15'];

// Exports of y-protocols/awareness, which editor bindings import.
const AWARENESS = 'Awareness, applyAwarenessUpdate, encodeAwarenessUpdate, modifyAwarenessUpdate, outdatedTimeout, removeAwarenessStates';

const MODULES = {
  'sdk-doc.mjs': `export { openRoom } from './shared-docs.ts';\nexport { ${AWARENESS} } from 'y-protocols/awareness';`,
  // The target of the page's import map for `yjs` and `y-protocols/awareness`.
  'sdk-yjs.mjs': `export * from 'yjs';\nexport { ${AWARENESS} } from './sdk-doc.mjs';`,
};

/** Writes `page/sdk.core.js`, `page/sdk-doc.mjs`, `page/sdk-yjs.mjs`, `page/sdk.d.ts`, `page/overlay.js` and `page/chat.js` below `outdir`. */
export async function buildPageSdk(root, outdir) {
  const folder = join(root, 'src/clients/page');
  const settings = {
    absWorkingDir: root,
    bundle: true,
    write: false,
    minify: true,
    target: TARGET,
    legalComments: 'none',
    logLevel: 'warning',
  };
  const textOf = async (more) => (await build({ ...settings, ...more })).outputFiles[0].text.trim();
  mkdirSync(join(outdir, 'page'), { recursive: true });
  const core = await textOf({ entryPoints: [join(folder, 'sdk.ts')], format: 'iife', globalName: 'page', external: ['yjs'] });
  writeFileSync(join(outdir, 'page/sdk.core.js'), `(site=>{${core}return page.start(site)})`);
  for (const [name, contents] of Object.entries(MODULES)) {
    const stdin = { contents, resolveDir: folder, sourcefile: name };
    writeFileSync(join(outdir, 'page', name), await textOf({ stdin, format: 'esm', external: ['./sdk-doc.mjs'] }));
  }
  writeFileSync(join(outdir, 'page/sdk.d.ts'), types(folder));
  const overlay = join(root, 'src/clients/overlay/main.ts');
  writeFileSync(join(outdir, 'page/overlay.js'), await textOf({ entryPoints: [overlay], format: 'iife', external: ['yjs'] }));
  const chat = join(root, 'src/clients/chat-box/main.ts');
  writeFileSync(join(outdir, 'page/chat.js'), await textOf({ entryPoints: [chat], format: 'iife', external: ['yjs'] }));
}

/** The declaration file: the text of the files that contain only types. */
function types(folder) {
  const files = ['wire.ts', 'api-outside.ts', 'api-datasets.ts', 'api.ts'];
  const [wire, outside, datasets, api] = files.map((name) =>
    readFileSync(join(folder, name), 'utf8').replace(/^import type [^;]*;\n/gm, ''),
  );
  return `// Types of /sdk.js (the global "easel") and /sdk.mjs (the same as exports).
${wire}
${outside}
${datasets}
${api}
export declare const easel: Easel;
export declare const EaselError: EaselErrorClass;
export declare const connect: Easel['connect'];

declare global {
  const easel: Easel;
}
`;
}
