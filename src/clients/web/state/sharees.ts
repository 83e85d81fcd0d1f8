/** One client organisation of a workspace: its people, their tokens, notes about it, and what was opened. */
import { answered, api, type ExternalMember, type ExternalToken, type NoteFacts, type Receipt, type Sharee } from '../api/client.ts';
import { pageOf, usePages } from './pages.ts';
import { useLoaded } from './store.ts';

export interface Stored<T> {
  readonly value: T;
  /** For If-Match: what is changed is what was seen. */
  readonly etag: string;
}

function etagOf({ headers }: { readonly headers: Headers }): string {
  return headers.get('etag') ?? '';
}

export function useSharee(slug: string, shareeId: string) {
  return useLoaded<Stored<Sharee>>(`sharee:${slug}:${shareeId}`, async () => {
    const reply = await api.sharees.get({ params: { workspaceId: slug, shareeId } });
    return { value: reply.body, etag: etagOf(reply) };
  });
}

export function useShareeMembers(slug: string, shareeId: string) {
  return usePages<ExternalMember>(`externals:${slug}:${shareeId}`, async (cursor) => {
    const { body } = await api.sharees.members({ params: { workspaceId: slug, shareeId }, query: { cursor } });
    return pageOf(body.members, body);
  });
}

export function useExternalTokens(slug: string, shareeId: string, memberId: string) {
  return usePages<ExternalToken>(`externalTokens:${slug}:${memberId}`, async (cursor) => {
    const { body } = await api.externalTokens.list({ params: { workspaceId: slug, shareeId, memberId }, query: { cursor } });
    return pageOf(body.tokens, body);
  });
}

export function useReceipts(slug: string, shareeId?: string) {
  return usePages<Receipt>(`receipts:${slug}:${shareeId ?? ''}`, async (cursor) => {
    const { body } = await api.receipts.list({ params: { workspaceId: slug }, query: { cursor, sharee_id: shareeId } });
    return pageOf(body.activity, body);
  });
}

export function useNotes(slug: string, shareeId: string) {
  return usePages<NoteFacts>(`notes:${slug}:${shareeId}`, async (cursor) => {
    const { body } = await api.notes.list({ params: { workspaceId: slug, shareeId }, query: { cursor } });
    return pageOf(body.notes, body);
  });
}

export interface NoteAt {
  readonly slug: string;
  readonly shareeId: string;
  readonly name: string;
}

/** Notes are Markdown and no JSON, so that the calls of the table do not carry them. */
function pathOf({ slug, shareeId, name }: NoteAt): string {
  const parts = [slug, 'sharees', shareeId, 'context', name].map(encodeURIComponent);
  return `/v1/workspaces/${parts.join('/')}`;
}

export async function readNote(at: NoteAt): Promise<Stored<string>> {
  const reply = await answered(() => fetch(pathOf(at), { headers: { accept: 'text/markdown, application/json' } }));
  return { value: await reply.text(), etag: etagOf(reply) };
}

/** `etag`: null for a note that must not be there yet. Throws VERSION_CONFLICT. */
export async function writeNote(at: NoteAt, text: string, etag: string | null): Promise<void> {
  const condition: HeadersInit = etag === null ? { 'if-none-match': '*' } : { 'if-match': etag };
  const headers = { 'content-type': 'text/markdown', accept: 'application/json', ...condition };
  await answered(() => fetch(pathOf(at), { method: 'PUT', headers, body: text }));
}
