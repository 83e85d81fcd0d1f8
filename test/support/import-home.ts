/** A workspace with file imports, a member who is signed in in a browser, and a drive of theirs. */
import type { UserId } from '../../protocol/core/ids.ts';
import type { ImportProvider } from '../../protocol/library/file-imports.ts';
import type { TestEasel, TestUser } from './easel.ts';
import { json, post } from './requests.ts';
import { Visitor } from './visitor.ts';
import { newWorkspace } from './workspaces.ts';

export interface ImportHome {
  readonly workspaceId: string;
  readonly slug: string;
  readonly owner: TestUser;
  readonly member: TestUser;
  readonly browser: Visitor;
  readonly folderId: string;
}

let homes = 0;

export async function importHome(easel: TestEasel): Promise<ImportHome> {
  homes += 1;
  const slug = `home-${homes}`;
  const owner = await easel.newUser('team');
  const browser = new Visitor(easel);
  const userId = (await browser.signInByCode(`member-${homes}@example.com`)) as UserId;
  await easel.sql`update account set tier = 'team' where id = ${userId}`;
  const workspaceId = await newWorkspace(easel, { [owner.userId]: 'owner', [userId]: 'member' }, { slug, tier: 'team' });
  // What somebody belongs to is cached with their credential.
  browser.cookies.clear();
  await browser.signInByCode(`member-${homes}@example.com`);
  const member = { userId, token: (await json(await browser.post('/v1/me/tokens', { name: 'imports' }))).token as string };
  const made = await easel.fetch(`/v1/workspaces/${workspaceId}/folders`, { token: owner.token, ...post({ name: 'Team plans' }) });
  return { workspaceId, slug, owner, member, browser, folderId: (await json(made)).id };
}

export function importsPath({ workspaceId }: Pick<ImportHome, 'workspaceId'>, rest = ''): string {
  return `/v1/workspaces/${workspaceId}/file-imports${rest}`;
}

/** Where the provider sends the browser back to. */
export async function consent(authorizeUrl: string): Promise<string> {
  const reply = await fetch(authorizeUrl, { redirect: 'manual' });
  const { pathname, search } = new URL(reply.headers.get('location') ?? '');
  return pathname + search;
}

export async function connect(easel: TestEasel, home: ImportHome, provider: ImportProvider): Promise<Response> {
  const begun = await easel.fetch(importsPath(home, `/connect/${provider}`), { method: 'POST', token: home.member.token });
  if (begun.status !== 200) throw new Error(`connecting was refused: ${await begun.text()}`);
  const back = await home.browser.fetch(await consent((await json(begun)).authorize_url));
  if (back.status !== 302) throw new Error(`the callback was refused: ${await back.text()}`);
  return back;
}

/** A source of the folder `id` of a fake drive, made by browsing to it. */
export async function sourceOf(easel: TestEasel, home: ImportHome, provider: ImportProvider, body: object = {}) {
  const { token } = home.member;
  const browse = async (ref: string) =>
    (await json(await easel.fetch(importsPath(home, `/browse/${provider}?ref=${ref}`), { token }))).entries;
  const [drive] = await browse('root');
  const folder = (await browse(drive.ref)).find(({ name }: { name: string }) => name === 'Plans');
  const init = post({ provider, ref: folder.ref, targetFolderId: home.folderId, ...body });
  const reply = await easel.fetch(importsPath(home, '/sources'), { token, ...init });
  if (reply.status !== 201) throw new Error(`the source was refused: ${await reply.text()}`);
  return json(reply);
}

export async function beginRun(easel: TestEasel, home: ImportHome, sourceId: string): Promise<string> {
  const reply = await easel.fetch(importsPath(home, `/sources/${sourceId}/sync`), { method: 'POST', token: home.member.token });
  if (reply.status !== 201) throw new Error(`the run was refused: ${await reply.text()}`);
  return (await json(reply)).run.id;
}

/** The run when it is over, as the owner of the workspace sees it. Where it waits for its provider, time passes by `stepMs`. */
export async function runEnded(easel: TestEasel, home: ImportHome, runId: string, stepMs = 0) {
  for (;;) {
    const { run } = await json(await easel.fetch(importsPath(home, `/runs/${runId}`), { token: home.owner.token }));
    if (run.finishedAt !== null) return run;
    if (stepMs > 0) easel.clock.advance(stepMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
