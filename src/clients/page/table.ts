/** `easel.table(name)` */
import type * as api from './api.ts';
import type { CallOptions } from './api-outside.ts';
import { isCode } from './errors.ts';
import type { ChangeFeed, Known } from './feed.ts';
import { deleted } from './json.ts';
import { tell } from './listeners.ts';
import { segment, type Transport } from './transport.ts';
import type { ChangeEvent } from './wire.ts';

export function tableOf<T extends object>(transport: Pick<Transport, 'call'>, feed: Pick<ChangeFeed, 'add'>, name: string): api.Table<T> {
  type Row = api.Row<T>;
  const path = `/tables/${segment(name)}`;
  const rowPath = (id: string) => `${path}/${segment(id)}`;

  async function insert(rows: T | readonly T[], options: api.InsertOptions = {}): Promise<Row | Row[]> {
    const { onConflict, merge, signal } = options;
    const answer = await transport.call<{ inserted: Row[] }>({ method: 'POST', path, query: { onConflict, merge }, body: rows, signal });
    return Array.isArray(rows) ? answer.inserted : (answer.inserted[0] as Row);
  }

  async function query(wanted: api.TableQuery = {}, { signal }: CallOptions = {}): Promise<api.Page<T>> {
    return transport.call({ method: 'POST', path: `${path}/query`, body: wanted, reads: true, signal });
  }

  async function get(id: string, { signal }: CallOptions = {}): Promise<Row | undefined> {
    try {
      return await transport.call<Row>({ method: 'GET', path: rowPath(id), signal });
    } catch (error) {
      if (isCode(error, 'ROW_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  return {
    insert: insert as api.Table<T>['insert'],
    query,
    get,
    async count(filter = {}, { signal } = {}) {
      const call = { method: 'POST', path: `${path}/count`, body: { filter }, reads: true, signal } as const;
      return (await transport.call<{ count: number }>(call)).count;
    },
    update: (id, body, { ifMatch, signal } = {}) => transport.call<Row>({ method: 'PATCH', path: rowPath(id), body, ifMatch, signal }),
    delete: (id, { ifMatch, signal } = {}) => deleted(transport, { method: 'DELETE', path: rowPath(id), ifMatch, signal }, 'ROW_NOT_FOUND'),
    watch: (listener, wanted) =>
      feed.add({
        type: 'tables',
        wants: ({ table }) => table === name,
        async load(): Promise<Known> {
          const { rows } = await query(wanted);
          tell(listener, { type: 'rows', rows });
          return new Map(rows.map(({ id, updatedAt }) => [id, updatedAt]));
        },
        async take(event: ChangeEvent): Promise<void> {
          const { kind, id } = event;
          if (kind === 'table.drop') tell(listener, { type: 'rows', rows: [] });
          if (id === undefined) return;
          if (kind === 'row.delete') tell(listener, { type: 'delete', id });
          if (kind !== 'row.put') return;
          const { createdAt, updatedAt } = event;
          const row = event.truncated ? await get(id) : ({ ...(event.data as T), id, createdAt, updatedAt } as Row);
          // Deleted since; the event of the deletion follows.
          if (row !== undefined) tell(listener, { type: 'put', id, row });
        },
      }),
  };
}
