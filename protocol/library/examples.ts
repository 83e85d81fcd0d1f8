/** Examples of the library but for assets. */
import { AT, EXAMPLE_IDS, inWorkspace, ofArtifact } from '../core/example.ts';

const oneConnection = { params: { ...inWorkspace.params, connectionId: EXAMPLE_IDS.connection } };

const warehouse = {
  name: 'Warehouse',
  type: 'postgres',
  credentialScope: 'workspace',
  authType: 'password',
  config: { host: 'db.example.com', port: 5432, database: 'sales', ssl: 'require' },
} as const;

const ofProvider = { params: { ...inWorkspace.params, provider: 'cloud_drive' } };
const oneSource = { params: { ...inWorkspace.params, sourceId: EXAMPLE_IDS.importSource } };
const oneImport = { params: { ...inWorkspace.params, runId: EXAMPLE_IDS.importRun } };
const ref = 'AWmXo0Jt5u3nQk2c';

const importSource = {
  id: EXAMPLE_IDS.importSource,
  provider: 'cloud_drive',
  remoteName: 'Plans',
  targetFolderId: EXAMPLE_IDS.folder,
  targetFolderName: 'Team plans',
  convert: true,
  dailySync: false,
  nextSyncAt: null,
  connected: true,
  mine: true,
  lastRun: null,
} as const;

const importRun = {
  id: EXAMPLE_IDS.importRun,
  sourceId: EXAMPLE_IDS.importSource,
  status: 'queued',
  trigger: 'manual',
  counts: { found: 0, imported: 0, converted: 0, skipped: 0, unchanged: 0, failed: 0 },
  stopCode: null,
  stopMessage: null,
  createdAt: AT,
  finishedAt: null,
  errors: [],
} as const;

const SKILL = `---
name: Release notes
description: How we write the notes of a release.
---
Say what changed for whom, then how.
`;
const oneSkill = { params: { skillId: EXAMPLE_IDS.skill } };
const oneChange = { params: { ...oneSkill.params, changeId: EXAMPLE_IDS.skillChange } };
const releaseNotes = {
  id: EXAMPLE_IDS.skill,
  artifact_id: EXAMPLE_IDS.artifact,
  name: 'Release notes',
  description: 'How we write the notes of a release.',
  version_no: 1,
  updated_at: AT,
} as const;

const oneEntry = { params: { ...inWorkspace.params, entryId: EXAMPLE_IDS.catalogEntry } };

const ledger = {
  name: 'Ledger',
  domain: 'Finance',
  tags: ['monthly'],
  description: 'Closed on the **third** working day.',
  fields: [{ name: 'account', type: 'text', description: 'as the chart of accounts has it' }],
};

export const libraryExamples = {
  'fileImports.list': {
    ...inWorkspace,
    reply: { providers: [{ id: 'cloud_drive', connected: true, accountEmail: 'ada@example.com' }], sources: [importSource] },
  },
  'fileImports.connect': { ...ofProvider, reply: { authorize_url: 'https://accounts.google.com/o/oauth2/v2/auth?client_id=…' } },
  'fileImports.callback': { params: { provider: 'cloud_drive' }, query: { code: '4/0AbCd', state: 'Zk3v7m2xw5tz4ndh' } },
  'fileImports.disconnect': ofProvider,
  'fileImports.browse': {
    ...ofProvider,
    query: { ref: 'root' },
    reply: { searchable: false, entries: [{ ref, name: 'My Drive', kind: 'drive', selectable: true }] },
  },
  'fileImports.createSource': {
    ...inWorkspace,
    body: { provider: 'cloud_drive', ref, targetFolderId: EXAMPLE_IDS.folder, convert: true },
    reply: importSource,
  },
  'fileImports.getSource': { ...oneSource, reply: importSource },
  'fileImports.updateSource': { ...oneSource, body: { dailySync: true } },
  'fileImports.deleteSource': oneSource,
  'fileImports.sync': { ...oneSource, reply: { run: importRun } },
  'fileImports.runs': { ...inWorkspace, query: { sourceId: EXAMPLE_IDS.importSource, limit: '5' } },
  'fileImports.run': { ...oneImport, reply: { run: importRun } },
  'fileImports.cancel': oneImport,
  'connections.list': { ...inWorkspace, query: { limit: '5' } },
  'connections.create': {
    ...inWorkspace,
    body: { ...warehouse, credentials: { username: 'reader', password: 'correct horse battery staple' } },
    reply: {
      ...warehouse,
      id: EXAMPLE_IDS.connection,
      has_credentials: true,
      created_at: AT,
      updated_at: AT,
      last_used_at: null,
      last_error: null,
    },
  },
  'connections.test': {
    ...inWorkspace,
    body: { type: 'http', config: { url: 'https://api.example.com/v2' } },
    reply: { ok: true, detail: 'The host answered with the status 200.' },
  },
  'connections.get': oneConnection,
  'connections.update': { ...oneConnection, body: { name: 'Sales warehouse' } },
  'connections.delete': oneConnection,
  'ask.ask': {
    body: { question: 'How do we write release notes?' },
    reply: {
      answer: 'Say what changed for whom, then how [1].',
      citations: [
        {
          artifact_id: EXAMPLE_IDS.artifact,
          title: 'Release notes',
          url: 'http://release-notes.localhost:8787',
          quote: 'Say what changed for whom, then how.',
        },
      ],
      mode: 'generated',
    },
  },
  'ask.agent': {
    params: { artifactId: EXAMPLE_IDS.artifact },
    body: { question: 'And who reads them?', history: [{ role: 'user', text: 'What are release notes?' }] },
  },
  'skills.list': { ...inWorkspace, query: { limit: '5' } },
  'skills.create': { ...inWorkspace, body: { markdown: SKILL }, reply: releaseNotes },
  'skills.get': oneSkill,
  'skills.markdown': oneSkill,
  'skills.putMarkdown': { ...oneSkill, body: `${SKILL}\nThank who reported it.\n` },
  'skillChanges.list': { ...oneSkill, query: { status: 'open' } },
  'skillChanges.propose': { ...oneSkill, body: { markdown: `${SKILL}\nName the issue.\n`, title: 'Name the issue' } },
  'skillChanges.get': oneChange,
  'skillChanges.decide': { ...oneChange, body: { action: 'merge' } },
  'skills.attachToWorkspace': { params: { ...inWorkspace.params, ...oneSkill.params } },
  'skills.detachFromWorkspace': { params: { ...inWorkspace.params, ...oneSkill.params } },
  'skills.uses': oneSkill,
  'skills.listOfArtifact': ofArtifact,
  'skills.attach': { params: { ...ofArtifact.params, ...oneSkill.params } },
  'skills.detach': { params: { ...ofArtifact.params, ...oneSkill.params } },
  'search.rebuild': { reply: { queued: 1284 } },
  'search.find': {
    query: { q: 'quarterly report', limit: '5' },
    reply: {
      query: 'quarterly report',
      artifacts: [
        {
          id: EXAMPLE_IDS.artifact,
          type: 'artifact',
          title: 'Quarterly report',
          subtitle: 'quarterly-report',
          url: 'https://quarterly-report.pages.example.com',
          snippet: { text: 'All numbers of this report are preliminary.', marks: [[20, 26]] },
          score: 0.87,
          updated_at: AT,
        },
      ],
      folders: [],
      datasets: [],
      connectors: [],
      people: [],
      schedules: [],
      crew: [],
      alerts: [],
    },
  },
  'catalog.list': { ...inWorkspace, query: { q: 'orders', limit: '5' } },
  'catalog.enable': { ...inWorkspace, reply: { enabled: true, entries: 12 } },
  'catalog.disable': { ...inWorkspace, reply: { enabled: false } },
  'catalog.create': {
    ...inWorkspace,
    body: ledger,
    reply: {
      ...ledger,
      id: EXAMPLE_IDS.catalogEntry,
      kind: 'note',
      owner: { id: EXAMPLE_IDS.user, name: 'Ada' },
      fields_total: 1,
      source: { type: 'note', id: EXAMPLE_IDS.catalogEntry, name: 'Ledger' },
      freshness: { changed_at: null, rows: null },
      updated_at: AT,
    },
  },
  'catalog.get': oneEntry,
  'catalog.update': { ...oneEntry, body: { tags: ['monthly', 'audited'] } },
  'catalog.delete': oneEntry,
  'catalog.lineage': { ...oneEntry, reply: { nodes: [], edges: [], truncated: false } },
} as const;
