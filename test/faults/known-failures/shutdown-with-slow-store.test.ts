/** SIGTERM while writes to the store block, as in Hocuspocus #738 and #995. */
import { expect, it } from 'vitest';
import { join } from '../../realtime/providers.ts';
import { createServerDatabase, temporaryDir } from '../../support/database.ts';
import { startProgram } from '../../support/program.ts';
import { describeWith } from '../../support/services.ts';
import { publishTargets } from '../../support/writers.ts';
import { openSql, pauseStore, synced } from './known-failure-stage.ts';

describeWith('postgresUrl')('[Hocuspocus #738 and #995] SIGTERM while the store blocks', () => {
  it.each([
    ['ends at the deadline and says so', { DRAIN_DEADLINE_S: '1' }, 1],
    ['waits for a store that recovers before the drain deadline', { DRAIN_DEADLINE_S: '60' }, 0],
  ])('%s; nothing acknowledged as saved is lost, the rest arrives once when the client returns', async (_what, deadline, code) => {
    const folder = temporaryDir();
    const database = await createServerDatabase();
    const settings = { DATA_DIR: folder.path, DATABASE_URL: database.url, LOG_LEVEL: 'silent', ...deadline };
    const sql = openSql(database.url);
    const program = await startProgram(settings);
    const [target] = await publishTargets(program, 1);
    if (target === undefined) throw new Error('nothing was published');
    const at = { artifactId: target.artifactId, token: target.token, document: 'notes' };
    const writer = join('hocuspocus 4', { ...at, baseUrl: program.baseUrl });
    const reader = join('y-websocket 3', { ...at, baseUrl: program.baseUrl });
    await synced(writer, reader);
    writer.type('[saved]');
    await writer.until(({ isSaved }) => isSaved);
    const resume = await pauseStore(sql);
    writer.type('[open]');
    await reader.until(({ text }) => text.toString() === '[saved][open]');
    reader.close();
    writer.disconnect();
    const ended = program.end('SIGTERM');
    if (code === 0) await resume();
    expect(await ended).toEqual({ code, signal: null });
    expect(writer.unsynced).toBe(1);
    if (code !== 0) await resume();
    const again = await startProgram(settings);
    const back = join('hocuspocus 4', { ...at, baseUrl: again.baseUrl });
    await synced(back);
    expect(back.text.toString()).toMatch(code === 0 ? /^\[saved\]\[open\]$/ : /^\[saved\](\[open\])?$/);
    const moved = join('hocuspocus 3', { ...at, baseUrl: again.baseUrl, doc: writer.doc });
    await moved.until(({ isSaved }) => isSaved);
    await back.until(({ text }) => text.toString() === '[saved][open]');
    for (const each of [writer, back, moved]) each.close();
    expect(await again.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await sql.end();
    await database.drop();
    folder.remove();
  });
});
