/** `.easel.json` records the artifact of a folder or of a page in it, so that the next publish makes a new version. */
import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from './saved.ts';

/** Loose, as all of the file: what somebody else has put into it stays. */
const publication = z.looseObject({
  server: z.string(),
  /** `.` for the folder, else the file name of a single page. */
  source: z.string(),
  artifact_id: z.string(),
  slug: z.string(),
  /** The entry page, if one was given. */
  entry: z.string().optional(),
});
export interface Publication {
  readonly server: string;
  readonly source: string;
  readonly artifact_id: string;
  readonly slug: string;
  readonly entry?: string | undefined;
}
const memory = z.looseObject({ publications: z.array(publication) });

const fileOf = (folder: string) => join(folder, '.easel.json');

/** The publications of this folder on `server`. */
export async function publicationsIn(folder: string, server: string): Promise<Publication[]> {
  const known = await readJsonFile(fileOf(folder), memory);
  return (known?.publications ?? []).filter((entry) => entry.server === server);
}

export async function rememberPublication(folder: string, entry: Publication): Promise<void> {
  const known = await readJsonFile(fileOf(folder), memory);
  const isSame = (other: Publication) => other.server === entry.server && other.source === entry.source;
  const others = (known?.publications ?? []).filter((other) => !isSame(other));
  const { entry: _, ...before } = known?.publications.find(isSame) ?? {};
  await writeJsonFile(fileOf(folder), { ...known, publications: [...others, { ...before, ...entry }] }, 0o644);
}
