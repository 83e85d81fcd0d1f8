/** Resolves the artifact that a command names: an id, a slug, or a published folder. */
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Option } from 'commander';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { CliFailure } from './failures.ts';
import { type Publication, publicationsIn } from './publications.ts';
import type { Session } from './session.ts';

const ID = /^art_[a-z0-9]{24}$/;

function remembered(known: readonly Publication[], where: string): string {
  const [first] = known;
  const chosen = known.find((entry) => entry.source === '.') ?? (known.length === 1 ? first : undefined);
  if (chosen) return chosen.artifact_id;
  throw first === undefined
    ? new CliFailure(
        'missing',
        'NOT_PUBLISHED',
        `Nothing in ${where} has been published to this server.`,
        'Run "easel publish" there first, or name an artifact by slug or id; "easel ls" lists them.',
      )
    : new CliFailure(
        'usage',
        'AMBIGUOUS',
        `Several pages of ${where} have been published.`,
        `Name one: ${known.map((entry) => entry.source).join(', ')}.`,
      );
}

/** The folder's artifact. Fails if another artifact has the folder's name as its slug, because the name is then ambiguous. */
async function agreedId(session: Session, name: string, folderId: string, trashed: boolean): Promise<string> {
  const slugId = await findSlug(session, name, trashed);
  if (slugId === undefined || slugId === folderId) return folderId;
  throw new CliFailure(
    'usage',
    'AMBIGUOUS',
    `"${name}" is ambiguous: it is the slug of ${slugId}, and a folder here that was published as ${folderId}.`,
    `Write ./${name} for the folder, or give the id of the artifact.`,
  );
}

async function findSlugIn(session: Session, slug: string, trashed: boolean, workspace_id?: string): Promise<string | undefined> {
  const { artifacts } = session.api;
  let cursor: string | undefined;
  do {
    const input = { query: { limit: LIMITS.pageMax, cursor, workspace_id }, signal: session.shell.signal };
    const page = await (trashed ? artifacts.listDeleted(input) : artifacts.list(input));
    const match = page.body.artifacts.find((artifact) => artifact.slug === slug);
    if (match) return match.id;
    cursor = page.body.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return undefined;
}

/** The caller's own artifact with this slug; where there is none, that of a workspace of theirs. */
async function findSlug(session: Session, slug: string, trashed: boolean): Promise<string | undefined> {
  const own = await findSlugIn(session, slug, trashed);
  if (own !== undefined) return own;
  const { workspaces } = (await session.api.accounts.me({ signal: session.shell.signal })).body;
  for (const { id } of workspaces) {
    const found = await findSlugIn(session, slug, trashed, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function idOfSlug(session: Session, slug: string, trashed: boolean): Promise<string> {
  const id = await findSlug(session, slug, trashed);
  if (id !== undefined) return id;
  throw new CliFailure(
    'missing',
    'ARTIFACT_NOT_FOUND',
    `You have no artifact "${slug}"${trashed ? ' in the trash' : ''}.`,
    trashed ? '"easel ls --trash" lists what can be restored.' : '"easel ls" lists yours.',
  );
}

/** The id of the artifact that `name` names. Without a name: the artifact of the current folder. `trashed` looks for slugs in the trash. */
export async function artifactIdOf(session: Session, name: string | undefined, trashed = false): Promise<string> {
  if (name === undefined) return remembered(await publicationsIn(resolve('.'), session.url), 'this folder');
  if (ID.test(name)) return name;
  const path = resolve(name);
  const kind = await stat(path).catch(() => undefined);
  if (kind?.isFile()) {
    const page = (await publicationsIn(dirname(path), session.url)).find((entry) => entry.source === basename(path));
    return remembered(page ? [page] : [], name);
  }
  if (kind?.isDirectory()) {
    const known = await publicationsIn(path, session.url);
    if (/[./\\]/.test(name)) return remembered(known, name);
    // A folder that was never published can have the same name as a slug.
    if (known.length > 0) return agreedId(session, name, remembered(known, name), trashed);
  }
  return idOfSlug(session, name, trashed);
}

/** `--artifact`, for `artifactIdOf`. */
export function artifactOption(): Option {
  return new Option('-a, --artifact <id|slug|folder>', 'default: the artifact of this folder');
}
