/** Notes about a client organisation, as Markdown: for the people and agents that work for it. Source: contract.md §10. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, success } from '../core/fields.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { patterned } from '../core/pattern.ts';
import { admin } from '../workspaces/access.ts';
import { shareeParams } from './sharees.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}\.md$/;
const noteName = missingAs(
  patterned(z.string().regex(NAME, 'must be up to 63 letters, digits, _ and -, then .md'), NAME),
  'NOTE_NOT_FOUND',
);
const params = shareeParams.extend({ name: noteName });

const PATH = '/v1/workspaces/{workspaceId}/sharees/{shareeId}/context';
const common = { group: 'sharing', access: admin } as const;

export const note = z.object({ name: z.string(), size_bytes: z.number().int(), created_at: dateTime, updated_at: dateTime });

export const notes = {
  'notes.list': endpoint({
    ...common,
    method: 'GET',
    path: PATH,
    summary: 'The notes about a client organisation, by name.',
    limit: 'none',
    params: shareeParams,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ notes: z.array(note), ...pageReply }) } },
    errors: ['SHAREE_NOT_FOUND'],
  }),
  'notes.get': endpoint({
    ...common,
    method: 'GET',
    path: `${PATH}/{name}`,
    summary: 'One note, as Markdown.',
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, media: 'text/markdown' } },
    errors: ['SHAREE_NOT_FOUND', 'NOTE_NOT_FOUND'],
  }),
  'notes.put': endpoint({
    ...common,
    method: 'PUT',
    path: `${PATH}/{name}`,
    summary: 'Writes a note, of 64 KB at most.',
    limit: 'shares',
    params,
    conditional: true,
    resource: 'notes.get',
    body: { kind: 'bytes', bytesMax: LIMITS.shareeNoteBytesMax, types: ['text/markdown', 'text/plain'] },
    replies: { ok: { status: 200, body: note }, created: { status: 201, body: note } },
    errors: ['SHAREE_NOT_FOUND', 'NOTE_NOT_FOUND', 'EXTERNAL_SHARING_NOT_ENTITLED', 'WORKSPACE_LIMIT_EXCEEDED', 'VERSION_CONFLICT'],
  }),
  'notes.delete': endpoint({
    ...common,
    method: 'DELETE',
    path: `${PATH}/{name}`,
    summary: 'Deletes a note.',
    limit: 'none',
    params,
    conditional: true,
    resource: 'notes.get',
    replies: { ok: { status: 200, body: success } },
    errors: ['SHAREE_NOT_FOUND', 'NOTE_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
} as const;
