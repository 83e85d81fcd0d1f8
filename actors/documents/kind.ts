import type { OpenedKind } from '../runtime/live-kind.ts';
import type { DocumentChange } from './changes.ts';
import { type DocumentsDeps, DocumentsPart } from './documents-part.ts';

export const documentsKind: OpenedKind<DocumentChange, DocumentsDeps, DocumentsPart> = {
  changes: { 'doc.update': 'put', 'doc.drop': 'deletion' },
  valueBytes: (change) => (change.kind === 'doc.update' ? change.update.byteLength : 0),
  open: (deps) => new DocumentsPart(deps),
};
