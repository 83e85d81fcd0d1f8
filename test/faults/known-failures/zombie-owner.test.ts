/** A process that is stopped until another has taken over its artifacts, and then continues. */
import { expect, it, onTestFinished } from 'vitest';
import { join } from '../../realtime/providers.ts';
import { createServerDatabase, temporaryDir } from '../../support/database.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { describeWith } from '../../support/services.ts';
import { publishTargets, type Target } from '../../support/writers.ts';
import { synced, times } from './known-failure-stage.ts';

interface Pair {
  readonly zombie: Program;
  readonly heir: Program;
  readonly target: Target;
}

/** Starts two processes on one database; the first publishes the artifact. */
async function startPair(): Promise<Pair> {
  const folder = temporaryDir();
  const database = await createServerDatabase();
  const settings = { DATA_DIR: folder.path, DATABASE_URL: database.url, LOG_LEVEL: 'silent' };
  const zombie = await startProgram(settings);
  const heir = await startProgram(settings);
  onTestFinished(async () => {
    zombie.process.kill('SIGCONT');
    await Promise.all([zombie.end('SIGKILL'), heir.end('SIGKILL')]);
    await database.drop();
    folder.remove();
  });
  const [target] = await publishTargets(zombie, 1);
  if (target === undefined) throw new Error('nothing was published');
  return { zombie, heir, target };
}

function key({ baseUrl }: Program, { artifactId, token }: Target, value?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const write = value === undefined ? {} : { method: 'PUT', body: JSON.stringify(value) };
  return fetch(`${baseUrl}/v1/data/${artifactId}/json/key`, { headers, ...write });
}

describeWith('postgresUrl')('[Dapr #9514, Orleans #9855, Akka #28093] a zombie', () => {
  it('cannot write a key, and then answers with what the new owner has written', async () => {
    const { zombie, heir, target } = await startPair();
    expect((await key(zombie, target, 'zombie')).status).toBe(201);
    zombie.process.kill('SIGSTOP');
    expect((await key(heir, target, 'heir')).status).toBe(200);
    const late = key(zombie, target, 'late');
    zombie.process.kill('SIGCONT');
    const refused = await late;
    expect([refused.status, (await refused.json()).code]).toEqual([503, 'OWNER_MOVED']);
    const told = await key(zombie, target);
    expect((await told.json()).data.value).toBe('heir');
  });

  it('closes every client with its unsaved edits, which the new owner takes', async () => {
    const { zombie, heir, target } = await startPair();
    const at = { artifactId: target.artifactId, token: target.token, document: 'notes' };
    const [writer, watcher] = [
      join('hocuspocus 4', { ...at, baseUrl: zombie.baseUrl }),
      join('y-websocket 3', { ...at, baseUrl: zombie.baseUrl }),
    ];
    await synced(writer, watcher);
    writer.type('[saved]');
    await writer.until(({ isSaved }) => isSaved);
    await watcher.until(({ text }) => text.toString() === '[saved]');
    zombie.process.kill('SIGSTOP');
    const heard = join('hocuspocus 3', { ...at, baseUrl: heir.baseUrl });
    await synced(heard);
    expect(heard.text.toString()).toBe('[saved]');
    heard.type('[of the heir]');
    await heard.until(({ isSaved }) => isSaved);
    writer.type('[late]');
    expect(writer.isSaved).toBe(false);
    zombie.process.kill('SIGCONT');
    // A client that reconnects to the zombie would make it take over the artifact again, so these go to the new owner, as behind a balancer.
    await Promise.all([writer, watcher].map((each) => each.until(({ isConnected }) => !isConnected).then(() => each.disconnect())));
    expect(writer.unsynced).toBeGreaterThan(0);
    const moved = join('hocuspocus 4', { ...at, baseUrl: heir.baseUrl, doc: writer.doc });
    await heard.until(({ text }) => times(text.toString(), '[late]') === 1);
    await moved.until(({ isSaved }) => isSaved);
    const fresh = join('y-websocket 2', { ...at, baseUrl: heir.baseUrl });
    await synced(fresh);
    expect(['[saved]', '[of the heir]', '[late]'].map((piece) => times(fresh.text.toString(), piece))).toEqual([1, 1, 1]);
    expect(fresh.text.toString()).toBe(heard.text.toString());
    // The zombie answers with what is stored.
    const curious = join('hocuspocus 2', { ...at, baseUrl: zombie.baseUrl });
    await synced(curious);
    expect(curious.text.toString()).toBe(fresh.text.toString());
    for (const each of [writer, watcher, heard, moved, fresh, curious]) each.close();
  });
});
