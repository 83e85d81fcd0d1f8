/** Files brought in from cloud drives. Bare camelCase. Source: spec.md, "File imports"; contract.md §12, §16. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dataPageReply, dateTime, pageQuery, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { changesTo } from '../core/round-trip.ts';
import { boundedText } from '../core/text.ts';
import { member, params } from '../workspaces/access.ts';

export const IMPORT_PROVIDERS = ['cloud_drive', 'office_suite'] as const;
export const importProvider = z.enum(IMPORT_PROVIDERS);
export type ImportProvider = z.infer<typeof importProvider>;

export const importStatus = z.enum(['queued', 'running', 'completed', 'stopped', 'failed']);
export type ImportStatus = z.infer<typeof importStatus>;

export const importStopCode = z.enum([
  ...(['STORAGE_QUOTA_EXCEEDED', 'CONNECTION_REVOKED', 'RATE_LIMITED', 'WALK_LIMIT', 'NOT_ALLOWED', 'SOURCE_DELETED'] as const),
  ...(['STALLED', 'FAILED'] as const),
]);
export type ImportStopCode = z.infer<typeof importStopCode>;

export const importCounts = z.object({
  found: z.number().int(),
  imported: z.number().int().meta({ description: 'stored as they are' }),
  converted: z.number().int().meta({ description: 'documents that became pages, sheets that became datasets' }),
  skipped: z.number().int(),
  unchanged: z.number().int(),
  failed: z.number().int(),
});
export type ImportCounts = z.infer<typeof importCounts>;

export const importError = z.object({
  path: z.string(),
  status: z
    .enum(['failed', 'skipped', 'imported', 'converted', 'unchanged'])
    .meta({ description: 'as what the file is counted; imported and converted: with a warning' }),
  code: z.string(),
  message: z.string(),
});
export type ImportError = z.infer<typeof importError>;

export const importRun = z.object({
  id: idSchema('importRun'),
  sourceId: idSchema('importSource'),
  status: importStatus,
  trigger: z.enum(['manual', 'daily']),
  counts: importCounts,
  stopCode: importStopCode.nullable().meta({ description: 'why it ended early; WALK_LIMIT warns on a completed run' }),
  stopMessage: z.string().nullable(),
  createdAt: dateTime,
  finishedAt: dateTime.nullable(),
  errors: z.array(importError).meta({
    description: `the first ${LIMITS.importErrorsMax}; in lists the first ${LIMITS.importErrorsListedMax}`,
  }),
});

export const importSource = z.object({
  id: idSchema('importSource'),
  provider: importProvider,
  remoteName: z.string(),
  targetFolderId: idSchema('folder').nullable().meta({ description: 'null once the folder is gone' }),
  targetFolderName: z.string().nullable(),
  convert: z.boolean(),
  dailySync: z.boolean(),
  nextSyncAt: dateTime.nullable(),
  connected: z.boolean().meta({ description: 'false once the connection of its maker was revoked' }),
  mine: z.boolean(),
  lastRun: importRun.nullable(),
});

export const importEntry = z.object({
  ref: z.string().meta({ description: 'opaque; of the caller alone' }),
  name: z.string(),
  kind: z.enum(['folder', 'drive', 'site', 'group']),
  selectable: z.boolean().meta({ description: 'whether it can be a source' }),
});

const refText = boundedText(LIMITS.importRefCharsMax).min(1);

export const newImportSource = z.strictObject({
  provider: importProvider,
  ref: refText.meta({ description: 'of a selectable entry' }),
  targetFolderId: idSchema('folder').meta({ description: 'a Team Space folder of the workspace' }),
  convert: z.boolean().default(false).meta({ description: 'documents become pages, sheets become datasets' }),
  dailySync: z.boolean().default(false),
});

export const importSourceUpdate = changesTo(importSource, {
  targetFolderId: idSchema('folder').optional(),
  convert: z.boolean().optional(),
  dailySync: z.boolean().optional(),
}).refine((body) => Object.keys(body).length > 0, 'must change at least one field');

const ofProvider = params.extend({ provider: missingAs(z.enum(IMPORT_PROVIDERS), 'IMPORT_PROVIDER_NOT_FOUND') });
const oneSource = params.extend({ sourceId: idSchema('importSource') });
const oneRun = params.extend({ runId: idSchema('importRun') });
const runReply = z.object({ run: importRun });
const BASE = '/v1/workspaces/{workspaceId}/file-imports';
const group = 'fileImports';

export const fileImports = {
  'fileImports.list': endpoint({
    method: 'GET',
    path: BASE,
    group,
    summary: 'The cloud drives that can be connected, and the sources that the caller may see. Without providers the feature is hidden.',
    access: member,
    limit: 'none',
    params,
    replies: {
      ok: {
        status: 200,
        body: z.object({
          providers: z.array(z.object({ id: importProvider, connected: z.boolean(), accountEmail: z.string().nullable() })),
          sources: z.array(importSource),
        }),
      },
    },
    errors: [],
  }),
  'fileImports.connect': endpoint({
    method: 'POST',
    path: `${BASE}/connect/{provider}`,
    group,
    summary: 'Begins to connect a drive: open authorize_url in a browser that is signed in as the same person.',
    access: member,
    limit: 'importConnects',
    params: ofProvider,
    // The answer holds a state that counts once.
    once: true,
    replies: { ok: { status: 200, body: z.object({ authorize_url: z.string() }) } },
    errors: ['SWITCHED_OFF', 'IMPORT_PROVIDER_NOT_FOUND', 'PLAN_REQUIRED', 'SECRETS_NOT_CONFIGURED'],
  }),
  'fileImports.callback': endpoint({
    method: 'GET',
    path: '/v1/file-imports/callback/{provider}',
    group,
    summary: 'Where the provider sends the browser back to; stores the connection and goes on to the workspace.',
    access: { who: 'anyone', browser: true },
    limit: 'none',
    params: z.object({ provider: z.string().max(64) }),
    query: z.object({
      code: boundedText(4096).optional(),
      state: boundedText(256).optional(),
      error: boundedText(256).optional(),
    }),
    foreignQuery: true,
    replies: { found: { status: 302, media: 'text/plain' } },
    errors: ['IMPORT_PROVIDER_NOT_FOUND', 'DRIVE_UNAVAILABLE', 'CONNECT_FAILED', 'PLAN_REQUIRED'],
  }),
  'fileImports.disconnect': endpoint({
    method: 'DELETE',
    path: `${BASE}/connect/{provider}`,
    group,
    summary: 'Forgets the access to the drive of the caller. Sources stay, and do not run until it is connected again.',
    access: member,
    limit: 'none',
    params: ofProvider,
    replies: { ok: { status: 200, body: success } },
    errors: ['IMPORT_PROVIDER_NOT_FOUND', 'IMPORT_NOT_CONNECTED'],
  }),
  'fileImports.browse': endpoint({
    method: 'GET',
    path: `${BASE}/browse/{provider}`,
    group,
    summary: 'What is in a drive of the caller: drives and sites at the root, folders below.',
    access: member,
    limit: 'importBrowses',
    params: ofProvider,
    query: z.object({
      ref: refText.default('root').meta({ description: 'of an entry of a former answer' }),
      q: storedText(200).optional().meta({ description: 'searches sites; where searchable' }),
    }),
    replies: { ok: { status: 200, body: z.object({ searchable: z.boolean(), entries: z.array(importEntry) }) } },
    errors: [
      ...(['IMPORT_PROVIDER_NOT_FOUND', 'PLAN_REQUIRED', 'IMPORT_NOT_CONNECTED', 'IMPORT_REF_NOT_FOUND', 'DRIVE_UNAVAILABLE'] as const),
    ],
  }),
  'fileImports.createSource': endpoint({
    method: 'POST',
    path: `${BASE}/sources`,
    group,
    summary: 'Makes a folder of a drive a source of files for a Team Space folder. Sync fetches them.',
    access: member,
    limit: 'none',
    params,
    body: { kind: 'json', schema: newImportSource, bytesMax: LIMITS.bodyBytesMax },
    replies: { created: { status: 201, body: importSource } },
    errors: [
      ...(['IMPORT_PROVIDER_NOT_FOUND', 'PLAN_REQUIRED', 'IMPORT_NOT_CONNECTED', 'IMPORT_REF_NOT_FOUND', 'FOLDER_NOT_FOUND'] as const),
      ...(['IMPORT_SOURCE_LIMIT_EXCEEDED'] as const),
    ],
  }),
  'fileImports.getSource': endpoint({
    method: 'GET',
    path: `${BASE}/sources/{sourceId}`,
    group,
    summary: 'One source.',
    access: member,
    limit: 'none',
    params: oneSource,
    conditional: true,
    replies: { ok: { status: 200, body: importSource } },
    errors: ['IMPORT_SOURCE_NOT_FOUND'],
  }),
  'fileImports.updateSource': endpoint({
    method: 'PATCH',
    path: `${BASE}/sources/{sourceId}`,
    group,
    summary: 'Changes where its files go and how. Only its maker may.',
    access: member,
    limit: 'none',
    params: oneSource,
    conditional: true,
    resource: 'fileImports.getSource',
    body: { kind: 'json', schema: importSourceUpdate, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: importSource } },
    errors: ['IMPORT_SOURCE_NOT_FOUND', 'FOLDER_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'fileImports.deleteSource': endpoint({
    method: 'DELETE',
    path: `${BASE}/sources/{sourceId}`,
    group,
    summary: 'Deletes a source with its runs. What it has imported stays. Its maker and admins may.',
    access: member,
    limit: 'none',
    params: oneSource,
    conditional: true,
    resource: 'fileImports.getSource',
    replies: { ok: { status: 200, body: success } },
    errors: ['IMPORT_SOURCE_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'fileImports.sync': endpoint({
    method: 'POST',
    path: `${BASE}/sources/{sourceId}/sync`,
    group,
    summary: 'Fetches new and changed files. Only its maker may: it goes by their access.',
    access: member,
    limit: 'importSyncs',
    params: oneSource,
    replies: { created: { status: 201, body: runReply } },
    errors: [
      'SWITCHED_OFF',
      'IMPORT_SOURCE_NOT_FOUND',
      'RUN_IN_PROGRESS',
      'IMPORT_NOT_CONNECTED',
      'IMPORT_PROVIDER_NOT_FOUND',
      'PLAN_REQUIRED',
    ],
  }),
  'fileImports.runs': endpoint({
    method: 'GET',
    path: `${BASE}/runs`,
    group,
    summary: 'The runs of a source, newest first.',
    access: member,
    limit: 'none',
    params,
    query: z.object({ sourceId: idSchema('importSource'), ...pageQuery }),
    replies: { ok: { status: 200, body: z.object({ runs: z.array(importRun), ...dataPageReply }) } },
    errors: ['IMPORT_SOURCE_NOT_FOUND'],
  }),
  'fileImports.run': endpoint({
    method: 'GET',
    path: `${BASE}/runs/{runId}`,
    group,
    summary: 'One run with its counts and errors.',
    access: member,
    limit: 'none',
    params: oneRun,
    conditional: true,
    replies: { ok: { status: 200, body: runReply } },
    errors: ['IMPORT_RUN_NOT_FOUND'],
  }),
  'fileImports.cancel': endpoint({
    method: 'POST',
    path: `${BASE}/runs/{runId}/cancel`,
    group,
    summary: 'Ends a run; what it has imported stays. Its maker and admins may.',
    access: member,
    limit: 'none',
    params: oneRun,
    replies: { ok: { status: 200, body: runReply } },
    errors: ['IMPORT_RUN_NOT_FOUND', 'RUN_FINISHED'],
  }),
} as const;
