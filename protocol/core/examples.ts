/** Examples of operations, the page SDK and mail that is not sent. */
import { EXAMPLE_IDS } from './example.ts';

export const coreExamples = {
  'operations.openapi': {},
  'operations.docs': {},
  'operations.docsFile': { params: { file: 'swagger-ui.css' } },
  'operations.alive': { reply: { status: 'ok' } },
  'operations.ready': {
    reply: {
      status: 'ready',
      degraded: [],
      dependencies: { database: { state: 'up' }, objects: { state: 'up' }, mail: { state: 'up' } },
    },
  },
  'operations.metrics': {},
  'devMail.list': {},
  'devMail.show': { params: { id: EXAMPLE_IDS.mail } },
  'devMail.html': { params: { id: EXAMPLE_IDS.mail } },
  'sdk.script': {},
  'sdk.module': {},
  'sdk.types': {},
  'sdk.documents': {},
  'sdk.yjs': {},
  'sdk.jobTypes': {},
} as const;
