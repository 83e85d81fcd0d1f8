// An embedded database with the current schema, which a first start copies: initialising one takes 3 s, and its migrations 2 s.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The folder of a template, made once for each version of PGlite and each set of migrations. `built`: folder of a build that has its workers and migrations. */
export async function postgresTemplate(root, built) {
  const cache = join(root, 'node_modules/.cache/easel');
  const template = join(cache, `postgres-template-${digestOf(root, join(built, 'migrations'))}`);
  if (existsSync(template)) return template;
  const making = `${template}.${process.pid}`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  try {
    await makeDatabase(root, built, making);
    for (const old of readdirSync(cache).filter((name) => /^postgres-template-[^.]+$/.test(name)))
      rmSync(join(cache, old), { recursive: true });
    renameSync(join(making, 'postgres'), template);
  } catch (error) {
    // Another build may have made it in the meantime.
    if (!existsSync(template)) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return template;
}

function digestOf(root, migrations) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json')));
  for (const name of readdirSync(migrations).sort()) hash.update(name).update(readFileSync(join(migrations, name)));
  return hash.digest('hex').slice(0, 16);
}

/** Opens a database as the program does on its first start, and closes it. */
async function makeDatabase(root, built, folder) {
  const program = join(built, 'make-template.mjs');
  const entryPoints = [join(root, 'src/storage/database.ts')];
  await build({ absWorkingDir: root, entryPoints, outfile: program, bundle: true, packages: 'external', format: 'esm', platform: 'node' });
  try {
    const { openDatabase, filesBesideProgram } = await import(pathToFileURL(program).href);
    const database = await openDatabase({ DATABASE_POOL: 1, DATA_DIR: folder }, SILENT, filesBesideProgram());
    await database.close();
  } finally {
    rmSync(program, { force: true });
  }
}
