/** Which artifact a command means: an id, a slug, or what a folder was published as. */
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Option } from 'commander';
import { LIMITS } from '../../../protocol/limits.ts';
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
        `Nothing in ${where} was published to this server.`,
        'Run "easel publish" there first, or name an artifact by slug or id; "easel ls" lists them.',
      )
    : new CliFailure(
        'usage',
        'AMBIGUOUS',
        `Several pages of ${where} were published.`,
        `Name one: ${known.map((entry) => entry.source).join(', ')}.`,
      );
}

async function idOfSlug(session: Session, slug: string, trashed: boolean): Promise<string> {
  let cursor: string | undefined;
  do {
    const page = await session.api.call(trashed ? 'artifacts.listDeleted' : 'artifacts.list', {
      query: { limit: LIMITS.pageMax, cursor },
      signal: session.shell.signal,
    });
    const match = page.body.artifacts.find((artifact) => artifact.slug === slug);
    if (match) return match.id;
    cursor = page.body.next_cursor ?? undefined;
  } while (cursor !== undefined);
  throw new CliFailure(
    'missing',
    'ARTIFACT_NOT_FOUND',
    `You have no artifact "${slug}"${trashed ? ' in the trash' : ''}.`,
    trashed ? '"easel ls --trash" lists what can be restored.' : '"easel ls" lists yours.',
  );
}

/** The id of the artifact named by `name`; without a name, of the one that the current folder was published as. `trashed` looks for slugs in the trash. */
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
    // A folder that was never published may just be called like a slug.
    if (known.length > 0 || /[./\\]/.test(name)) return remembered(known, name);
  }
  return idOfSlug(session, name, trashed);
}

/** `--artifact`, for `artifactIdOf`. */
export function artifactOption(): Option {
  return new Option('-a, --artifact <id|slug|folder>', 'default: what this folder was published as');
}
