// Writes the OpenAPI document of the endpoint table. Making it takes over half a second, which a start should not wait for.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Writes `openapi.json` below `outdir`. The service puts its own address in the place of `{base_url}`. */
export async function buildOpenapi(root, outdir) {
  const entry = join(root, 'protocol/core/openapi.ts');
  const bundle = await build({ absWorkingDir: root, entryPoints: [entry], bundle: true, write: false, format: 'esm', platform: 'node' });
  const { openapiDocument } = await import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString('base64')}`);
  writeFileSync(join(outdir, 'openapi.json'), JSON.stringify(openapiDocument('{base_url}')));
}
