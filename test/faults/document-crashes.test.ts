import { describe, expect, it } from 'vitest';
import { Typists } from '../realtime/typists.ts';
import { createServerDatabase, type DatabaseKind, everyDatabaseKind, temporaryDir } from '../support/database.ts';
import { keepablePort } from '../support/ports.ts';
import { startProgram } from '../support/program.ts';
import { Random } from '../support/random.ts';
import { publishTargets } from '../support/writers.ts';

// By hand: DOCUMENT_CRASHES=50 npx vitest run test/faults/document-crashes.test.ts
const CRASHES = Number(process.env.DOCUMENT_CRASHES ?? 2);
const SEED = Number(process.env.DOCUMENT_SEED ?? 1);
const PIECES_BEFORE_CRASH = { least: 50, most: 400 };
const ARTIFACTS = 2;
const DOCUMENTS = ['notes', 'plan'];

async function installation(kind: DatabaseKind) {
  const folder = temporaryDir();
  const server = kind === 'postgres' ? await createServerDatabase() : null;
  return {
    settings: { DATA_DIR: folder.path, PORT: String(await keepablePort()), ...(server ? { DATABASE_URL: server.url } : {}) },
    remove: async () => {
      await server?.drop();
      folder.remove();
    },
  };
}

describe.each(everyDatabaseKind())('the process dies while twenty people type with every stock provider: %s', (kind) => {
  it(`loses nothing acknowledged, doubles nothing, and all converge: ${CRASHES} crashes, seed ${SEED}`, {
    timeout: 120_000 + CRASHES * 60_000,
  }, async () => {
    const random = new Random(SEED);
    const { settings, remove } = await installation(kind);
    let program = await startProgram(settings);
    const targets = await publishTargets(program, ARTIFACTS);
    const places = targets.flatMap((target, i) => DOCUMENTS.map((document) => ({ ...target, document: `${document}${i}` })));
    const typists = new Typists(program.baseUrl, places, random);
    expect(typists.count).toBe(20);
    for (let crash = 0; crash < CRASHES; crash += 1) {
      const pieces = PIECES_BEFORE_CRASH.least + random.integer(PIECES_BEFORE_CRASH.most - PIECES_BEFORE_CRASH.least);
      await typists.typeUntil(pieces, () => program.end('SIGKILL'));
      program = await startProgram(settings);
      expect(await typists.findFaults()).toEqual([]);
    }
    expect(typists.acknowledged).toBeGreaterThanOrEqual(CRASHES * PIECES_BEFORE_CRASH.least);
    if (process.env.DOCUMENT_CRASHES !== undefined) {
      console.info(`${kind}: ${CRASHES} crashes, ${typists.typed} pieces typed, ${typists.acknowledged} acknowledged before a crash`);
    }
    typists.close();
    await program.end('SIGTERM');
    await remove();
  });
});
