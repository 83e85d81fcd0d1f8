/** The endpoints of the notes about a client organisation. */
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { textOfBody } from '../../../edge/utf8.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { changeTimeMs } from '../../artifacts/artifacts/rules.ts';
import type { ServiceDeps } from '../../deps.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { lockSharing, lockToShare } from '../sharees/externals.ts';
import { requireSharee } from '../sharees/rows.ts';
import { requireRoom } from '../sharees/rules.ts';
import { countNotes, deleteNote, listNotes, type NoteRow, putNote, readNote } from './rows.ts';

export type NoteDeps = Pick<ServiceDeps, 'sql' | 'clock'>;

export function noteHandlers({ sql, clock }: NoteDeps): Handlers<'notes.list' | 'notes.get' | 'notes.put' | 'notes.delete'> {
  return {
    'notes.list': async ({ workspace, params, query }) => {
      const { id } = await requireSharee(sql, workspace.id, params.shareeId);
      const all = await listNotes(sql, id);
      const { number } = decodeCursor(query.cursor);
      const from = query.cursor === undefined ? 0 : number;
      const { items, page } = cutPage([...all.entries()].slice(from), query.limit, ([at]) => ({ number: at + 1, id: '' }));
      return { reply: 'ok', body: { notes: items.map(([, row]) => present(row)), ...page, ...(query.count && { total: all.length }) } };
    },
    'notes.get': async ({ workspace, params }) => {
      const { id } = await requireSharee(sql, workspace.id, params.shareeId);
      const row = await readNote(sql, id, params.name);
      if (row === null) throw new Failure('NOTE_NOT_FOUND');
      return { reply: 'ok', body: row.content, type: 'text/markdown; charset=utf-8', etag: etagOf(row) };
    },
    'notes.put': async (call) => {
      const { workspace, params, body, user } = call;
      const content = textOfBody(body);
      const { row, isNew } = await sql.begin(async (tx) => {
        await lockToShare(tx, call, workspace.id);
        const sharee = await requireSharee(tx, workspace.id, params.shareeId);
        const before = await readNote(tx, sharee.id, params.name);
        checkConditions(before === null ? undefined : stateOf(before), call);
        if (before === null) requireRoom(await countNotes(tx, sharee.id), LIMITS.shareeNotesMax, 'notes about a client organisation');
        const nowMs = clock.nowMs();
        await putNote(tx, sharee.id, params.name, content, user, before === null ? nowMs : changeTimeMs(before, nowMs));
        const target = { type: 'sharee', id: sharee.id, name: sharee.name };
        await audit(tx, call, { workspaceId: workspace.id, action: 'sharee_note.put', target, detail: { note: params.name } });
        return { row: await readNote(tx, sharee.id, params.name), isNew: before === null };
      });
      if (row === null) throw new Error('a note that was just written is not there');
      return { reply: isNew ? 'created' : 'ok', body: present(row), etag: etagOf(row) };
    },
    'notes.delete': async (call) => {
      const { workspace, params } = call;
      await sql.begin(async (tx) => {
        await lockSharing(tx, call, workspace.id);
        const sharee = await requireSharee(tx, workspace.id, params.shareeId);
        const before = await readNote(tx, sharee.id, params.name);
        if (before === null) throw new Failure('NOTE_NOT_FOUND');
        checkConditions(stateOf(before), call);
        await deleteNote(tx, sharee.id, params.name);
        const target = { type: 'sharee', id: sharee.id, name: sharee.name };
        await audit(tx, call, { workspaceId: workspace.id, action: 'sharee_note.delete', target, detail: { note: params.name } });
      });
      return { reply: 'ok', body: { success: true } };
    },
  };
}

function stateOf(row: NoteRow) {
  return { etag: etagOf(row), updatedAtMs: row.updated_at_ms };
}

function etagOf(row: NoteRow): string {
  return `"${row.updated_at_ms.toString(36)}"`;
}

function present({ name, size_bytes, created_at_ms, updated_at_ms }: NoteRow) {
  return { name, size_bytes, created_at: dateTime(created_at_ms), updated_at: dateTime(updated_at_ms) };
}
