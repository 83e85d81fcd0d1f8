// Builds the web app: scripts and a style sheet whose names change with their content, each with its compressed forms, and the manifest from
// which the server writes the document.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';

// Browsers with dialog, popover and :has().
const TARGET = ['chrome114', 'firefox125', 'safari17'];
// Sheets in the order in which they apply.
const SHEETS = ['base.css', 'components.css', 'shell.css', 'library.css', 'artifact.css', 'workspace.css', 'support.css', 'instance.css'];

/** Writes `web/` below `outdir`. */
export async function buildWebApp(root, outdir) {
  const source = join(root, 'src/clients/web');
  const folder = join(outdir, 'web');
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { app: join(source, 'main.tsx') },
    outdir: folder,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    target: TARGET,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const outputs = Object.entries(metafile.outputs);
  const [entry, { imports }] = outputs.find(([, { entryPoint }]) => entryPoint?.endsWith('/main.tsx')) ?? [];
  const manifest = {
    script: basename(entry),
    preload: imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path)),
    style: await writeStyle(root, source, folder),
  };
  for (const name of readdirSync(join(source, 'icons'))) writeFileSync(join(folder, name), readFileSync(join(source, 'icons', name)));
  for (const name of readdirSync(folder)) writeForms(folder, name);
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
}

async function writeStyle(root, source, folder) {
  const tokens = await build({ absWorkingDir: root, entryPoints: ['src/edge/tokens.ts'], format: 'esm', write: false });
  const { TOKENS_STYLE } = await import(`data:text/javascript;base64,${Buffer.from(tokens.outputFiles[0].contents).toString('base64')}`);
  const sheets = SHEETS.map((name) => readFileSync(join(source, 'style', name), 'utf8'));
  const contents = [TOKENS_STYLE, ...sheets].join('\n');
  const { code } = await transform(contents, { loader: 'css', minify: true, target: TARGET });
  const stdin = { contents: code, loader: 'css', sourcefile: 'app.css' };
  const { outputFiles } = await build({ stdin, outdir: folder, entryNames: 'app-[hash]', write: false });
  const [file] = outputFiles;
  writeFileSync(file.path, file.contents);
  return basename(file.path);
}

function writeForms(folder, name) {
  const bytes = readFileSync(join(folder, name));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }));
  writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
}
