/** Sources of files in cloud drives, and what their runs have done. */
import { api, type ImportDrive, type ImportEntry, type ImportRun, type ImportSource } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { usePages } from './pages.ts';
import { changed, useLoaded } from './store.ts';

export type Provider = ImportDrive['id'];

export interface Imports {
  readonly providers: readonly ImportDrive[];
  readonly sources: readonly ImportSource[];
}

export function useImports(slug: string) {
  return useLoaded<Imports>(`imports:${slug}`, async () => (await api.fileImports.list({ params: { workspaceId: slug } })).body);
}

export interface ReadSource {
  readonly source: ImportSource;
  /** For a change that does not overwrite another one. */
  readonly etag: string | undefined;
}

export function useSource(slug: string, sourceId: string) {
  return useLoaded<ReadSource>(`imports:${slug}:source:${sourceId}`, async () => {
    const { body, headers } = await api.fileImports.getSource({ params: { workspaceId: slug, sourceId } });
    return { source: body, etag: headers.get('etag') ?? undefined };
  });
}

/** One run with all that it tells of files. */
export function useRun(slug: string, runId: string) {
  return useLoaded<ImportRun>(`import-run:${slug}:${runId}`, async () => {
    return (await api.fileImports.run({ params: { workspaceId: slug, runId } })).body.run;
  });
}

export function useRuns(slug: string, sourceId: string) {
  return usePages<ImportRun>(`import-runs:${slug}:${sourceId}`, async (cursor) => {
    const { body } = await api.fileImports.runs({ params: { workspaceId: slug }, query: { sourceId, cursor } });
    return { items: body.runs, next: body.hasMore ? body.nextCursor : null };
  });
}

export interface Browsed {
  readonly searchable: boolean;
  readonly entries: readonly ImportEntry[];
}

/** `q` searches where the place can be searched; empty for what is in it. */
export function useBrowsed(slug: string, provider: Provider, ref: string, q: string) {
  return useLoaded<Browsed>(`import-browse:${slug}:${provider}:${ref}:${q}`, async () => {
    try {
      const query = { ref, ...(q !== '' && { q }) };
      return (await api.fileImports.browse({ params: { workspaceId: slug, provider }, query })).body;
    } catch (error) {
      // Looking into a drive is how it shows that its access was withdrawn.
      if (problemOf(error).code === 'IMPORT_NOT_CONNECTED') importsChanged(slug);
      throw error;
    }
  });
}

function importsChanged(slug: string): void {
  changed(`imports:${slug}`, `import-runs:${slug}`, `import-run:${slug}`);
}

/** Goes to the provider, which sends the browser back to the screen of imports. */
export async function connectDrive(slug: string, provider: Provider): Promise<void> {
  const { body } = await api.fileImports.connect({ params: { workspaceId: slug, provider } });
  location.assign(body.authorize_url);
}

export async function disconnectDrive(slug: string, provider: Provider): Promise<void> {
  try {
    await api.fileImports.disconnect({ params: { workspaceId: slug, provider } });
  } finally {
    changed(`import-browse:${slug}:${provider}`);
    importsChanged(slug);
  }
}

type NewSource = Parameters<typeof api.fileImports.createSource>[0]['body'];
type SourceRules = Parameters<typeof api.fileImports.updateSource>[0]['body'];

/** Answers its id. */
export async function createSource(slug: string, body: NewSource): Promise<string> {
  const made = (await api.fileImports.createSource({ params: { workspaceId: slug }, body })).body;
  importsChanged(slug);
  return made.id;
}

export async function saveSource(slug: string, { source, etag }: ReadSource, body: SourceRules): Promise<void> {
  const params = { workspaceId: slug, sourceId: source.id };
  try {
    await api.fileImports.updateSource({ params, body, ...(etag !== undefined && { ifMatch: etag }) });
  } finally {
    // After a conflict, what is there now is shown.
    importsChanged(slug);
  }
}

export async function deleteSource(slug: string, sourceId: string): Promise<void> {
  await api.fileImports.deleteSource({ params: { workspaceId: slug, sourceId } });
  importsChanged(slug);
}

/** `underWay`: somebody else, or the clock, has begun a run already. */
export async function syncSource(slug: string, sourceId: string): Promise<'began' | 'underWay'> {
  try {
    await api.fileImports.sync({ params: { workspaceId: slug, sourceId } });
    return 'began';
  } catch (error) {
    if (problemOf(error).code === 'RUN_IN_PROGRESS') return 'underWay';
    throw error;
  } finally {
    importsChanged(slug);
  }
}

/** A run that has ended meanwhile needs no canceling. */
export async function cancelImport(slug: string, runId: string): Promise<void> {
  try {
    await api.fileImports.cancel({ params: { workspaceId: slug, runId } });
  } catch (error) {
    if (problemOf(error).code !== 'RUN_FINISHED') throw error;
  } finally {
    importsChanged(slug);
  }
}

/** What a run has published is new in lists of pages. */
export function runEnded(slug: string): void {
  changed(`imports:${slug}`, `import-runs:${slug}`, 'artifacts:', 'folders:', `catalog:${slug}`);
}

export function isUnderWay(run: Pick<ImportRun, 'status'> | null): boolean {
  return run !== null && (run.status === 'queued' || run.status === 'running');
}

const UNDER_WAY_MS = 1000;
/** The node that takes a daily run looks for it every ten seconds. */
const DUE_MS = 10_000;
const FOLLOW_MS_MAX = 3_600_000;

/** After how long sources and their runs have probably changed; undefined where they do so only by hand. */
export function changesAfterMs(sources: readonly ImportSource[], nowMs = Date.now()): number | undefined {
  if (sources.some(({ lastRun }) => isUnderWay(lastRun))) return UNDER_WAY_MS;
  const waits = sources.flatMap(({ nextSyncAt }) => (nextSyncAt === null ? [] : [Date.parse(nextSyncAt) - nowMs + DUE_MS]));
  return waits.length === 0 ? undefined : Math.min(FOLLOW_MS_MAX, Math.max(DUE_MS, Math.min(...waits)));
}
