/** Examples of connections. */
import { AT, EXAMPLE_IDS, inWorkspace } from '../core/example.ts';

const oneConnection = { params: { ...inWorkspace.params, connectionId: EXAMPLE_IDS.connection } };

const warehouse = {
  name: 'Warehouse',
  type: 'postgres',
  credentialScope: 'workspace',
  authType: 'password',
  config: { host: 'db.example.com', port: 5432, database: 'sales', ssl: 'require' },
} as const;

export const libraryExamples = {
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
  'connections.get': oneConnection,
  'connections.update': { ...oneConnection, body: { name: 'Sales warehouse' } },
  'connections.delete': oneConnection,
} as const;
