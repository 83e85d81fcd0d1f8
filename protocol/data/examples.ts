/** Examples of keys, tables, blobs, comments and documents. */
import { AT, EXAMPLE_IDS, ofArtifact } from '../core/example.ts';

const { artifact: artifactId } = EXAMPLE_IDS;
const data = { params: { artifactId } };
const key = { params: { artifactId, key: 'score' } };
const table = { params: { artifactId, table: 'guests' } };
const row = { params: { ...table.params, rowId: EXAMPLE_IDS.row } };
const comment = { params: { artifactId, commentId: EXAMPLE_IDS.comment } };
const document = { params: { artifactId, doc: 'notes' } };
const dataset = { params: { artifactId, dataset: 'cities' } };
const blob = { params: { artifactId, blobId: EXAMPLE_IDS.blob } };

const jsonKeys = {
  'json.list': { ...data, query: { prefix: 's', values: 'true' } },
  'json.get': { ...key, query: { path: '$.points' }, reply: { success: true, data: { key: 'score', value: 2, updatedAt: AT } } },
  'json.put': {
    ...key,
    query: { ttl: '60' },
    body: { points: 2 },
    reply: { success: true, data: { key: 'score', created: false, updatedAt: AT } },
  },
  'json.patch': { ...key, body: { op: 'increment', path: '$.points' } },
  'json.delete': key,
  'json.deleteAll': { ...data, query: { confirm: 'true' } },
  'data.batch': { ...data, body: { requests: [{ path: '/json/score' }, { method: 'DELETE', path: '/json/none' }] } },
  'data.changes': { ...data, query: { since: '0', types: 'json,tables' } },
} as const;

const tables = {
  'tables.list': data,
  'tables.insert': { ...table, query: { onConflict: 'name', merge: 'true' }, body: { rows: [{ name: 'Ada', visits: 1 }] } },
  'tables.updateMany': { ...table, body: { filter: { visits: { $gte: 1 } }, changes: { visits: 0 } } },
  'tables.deleteMany': { ...table, body: { filter: { name: 'Ada' } } },
  'tables.rows': {
    ...table,
    query: { filter: '{"visits":{"$gte":1}}', sort: '-createdAt,name', fields: 'name', limit: '10', count: 'true' },
  },
  'tables.query': { ...table, body: { filter: { name: 'Ada' }, sort: ['name'], select: ['name', 'visits'], count: true } },
  'tables.count': { ...table, body: { filter: { name: 'Ada' } } },
  'tables.distinct': { ...table, body: { field: 'name' } },
  'tables.aggregate': { ...table, body: { groupBy: ['name'], metrics: [{ fn: 'sum', field: 'visits', as: 'visits' }] } },
  'tables.export': table,
  'tables.import': { ...table, body: 'name,visits\r\nAda,1\r\n' },
  'tables.getRow': row,
  'tables.patchRow': { ...row, body: { visits: 2 } },
  'tables.deleteRow': row,
  'tables.getSchema': table,
  'tables.putSchema': { ...table, body: { columns: [{ name: 'name', type: 'string', required: true, indexed: true }] } },
} as const;

const files = {
  'blobs.list': { ...data, query: { limit: '5' } },
  'blobs.create': data,
  'blobs.upload': { ...data, body: { filename: 'note.txt', mimeType: 'text/plain', size: 4 } },
  'blobs.put': { params: { artifactId, tokenId: EXAMPLE_IDS.upload }, body: 'sent by token' },
  'blobs.confirm': { params: { artifactId, tokenId: EXAMPLE_IDS.upload } },
  'blobs.storage': data,
  'blobs.get': blob,
  'blobs.delete': blob,
  'blobs.content': blob,
  'blobs.downloadUrl': blob,
} as const;

const datasets = {
  'datasets.list': { ...data, query: { limit: '5' } },
  'datasets.get': dataset,
  'datasets.put': {
    ...dataset,
    body: 'city,people,founded\r\nBern,134000,1191-01-01\r\nLima,10000000,1535-01-18\r\n',
    reply: {
      success: true,
      data: {
        name: 'cities',
        version: 1,
        rows: 2,
        sizeBytes: 106,
        createdAt: AT,
        columns: [
          { name: 'city', type: 'string' },
          { name: 'people', type: 'number' },
          { name: 'founded', type: 'date' },
        ],
      },
    },
  },
  'datasets.upload': { ...dataset, body: { mimeType: 'text/csv', size: 32 } },
  'datasets.putUpload': { params: { artifactId, tokenId: EXAMPLE_IDS.upload }, body: 'city,people\r\nBern,134000\r\n' },
  'datasets.confirm': { params: { artifactId, tokenId: EXAMPLE_IDS.upload } },
  'datasets.content': { ...dataset, query: { version: '1', format: 'csv' } },
  'datasets.rows': { ...dataset, query: { filter: '{"people":{"$gte":1000000}}', fields: 'city', limit: '10' } },
  'datasets.delete': dataset,
} as const;

const comments = {
  'comments.list': { ...data, query: { parentId: 'root', resolved: 'false', limit: '5' } },
  'comments.create': {
    ...data,
    body: {
      content: 'Well said.',
      contextId: 'index.html',
      quote: { exact: 'Hello' },
      position: { selector: 'p' },
      dueAt: '2026-02-01T00:00:00Z',
    },
  },
  'comments.deleteResolved': { ...data, query: { resolved: 'true', confirm: 'true' } },
  'comments.get': comment,
  'comments.update': { ...comment, body: { content: 'Better said.', quote: null } },
  'comments.delete': comment,
  'comments.replies': { ...comment, query: { limit: '5' } },
  'comments.thread': { ...comment, query: { limit: '5' } },
  'comments.history': comment,
  'comments.resolve': { ...comment, body: { resolved: true } },
  'comments.assign': { ...comment, body: { assigneeUserId: EXAMPLE_IDS.user, dueAt: null } },
  'comments.react': { ...comment, body: { emoji: '👍' } },
  'comments.getConfig': data,
  'comments.putConfig': { ...data, body: { identityMode: 'named', guestComments: null } },
  'comments.people': data,
  'comments.unread': data,
  'comments.markRead': { ...data, body: { seq: 1 } },
  'inbox.list': { query: { filter: 'mentions', resolved: 'false', limit: '5', count: 'true' } },
  'comments.guestStart': { ...data, body: { email: 'gail@example.com', name: 'Gail' } },
  'comments.guestVerify': { ...data, body: { email: 'gail@example.com', code: '314159' } },
} as const;

const together = {
  'realtime.sync': document,
  'realtime.hocuspocus': data,
  'realtime.channels': data,
  'presence.people': data,
  'viewer.get': data,
  'presence.count': ofArtifact,
  'documents.list': data,
  'documents.get': document,
  'documents.write': { ...document, body: { ops: [{ op: 'text.append', type: 'content', text: 'Hello' }] } },
  'documents.delete': document,
  'documents.text': { ...document, query: { type: 'content' } },
  'documents.state': document,
  'documents.apply': document,
  'documents.versions': { ...document, query: { limit: '5' } },
  'documents.makeVersion': { ...document, body: { label: 'first' } },
  'documents.deleteVersion': { params: { ...document.params, seq: '1' } },
  'documents.restore': { ...document, body: { seq: 1 } },
} as const;

export const dataExamples = { ...jsonKeys, ...tables, ...files, ...datasets, ...comments, ...together } as const;
