/** `.easel.json`: which artifact a folder (or a page in it) was published as, so that publishing again pushes a new version. */
import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from './saved.ts';

const publication = z.object({
  server: z.string(),
  /** `.` for the folder, else the file name of a single page. */
  source: z.string(),
  artifact_id: z.string(),
  slug: z.string(),
  /** The page that opens first, where it was chosen. */
  entry: z.string().optional(),
});
export type Publication = z.output<typeof publication>;
const memory = z.object({ publications: z.array(publication) });

const fileOf = (folder: string) => join(folder, '.easel.json');

/** What of this folder was published to `server`. */
export async function publicationsIn(folder: string, server: string): Promise<Publication[]> {
  const known = await readJsonFile(fileOf(folder), memory);
  return (known?.publications ?? []).filter((entry) => entry.server === server);
}

export async function rememberPublication(folder: string, entry: Publication): Promise<void> {
  const known = await readJsonFile(fileOf(folder), memory);
  const others = (known?.publications ?? []).filter((other) => other.server !== entry.server || other.source !== entry.source);
  await writeJsonFile(fileOf(folder), { publications: [...others, entry] }, 0o644);
}
