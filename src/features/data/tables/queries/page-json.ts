/** What a page of rows is sent as. A page may have 4 MB, so it is made in slices, between which others have their turn. */
import { loopTurns } from '../../../../platform/loop-turns.ts';
import { spareBuffers } from '../../../../platform/spare-buffers.ts';
import { pageRowJson, rowParts } from '../row-json.ts';
import type { PageRow, RowsPage } from './page.ts';
import { type Projection, project } from './projection.ts';

/** What is made of rows in one turn of the event loop. */
const SLICE_BYTES = 512 * 1024;

/** As bytes where it is large, because a text of megabytes would be copied twice more before it is sent. The bytes of the rows are used up. */
export async function pageJson(
  page: RowsPage,
  total: number | undefined,
  projection: Projection | undefined,
  lane: string,
): Promise<string | Uint8Array> {
  const { rows, nextCursor } = page;
  const rest = `"hasMore":${nextCursor !== null},"nextCursor":${JSON.stringify(nextCursor)}${total === undefined ? '' : `,"total":${total}`}`;
  const head = '{"success":true,"data":{"rows":[';
  const tail = `],${rest}}}`;
  if (projection === undefined && rows.reduce((bytes, { data }) => bytes + data.length, 0) > SLICE_BYTES) {
    const json = await joined([head, ...rows.flatMap((row, index) => (index === 0 ? rowParts(row) : [',', ...rowParts(row)])), tail], lane);
    for (const { data } of rows) spareBuffers.give(data);
    return json;
  }
  return `${head}${(await rowTexts(rows, projection, lane)).join(',')}${tail}`;
}

export async function rowTexts(rows: readonly PageRow[], projection: Projection | undefined, lane: string): Promise<string[]> {
  const texts: string[] = [];
  let chars = 0;
  for (const row of rows) {
    const text = rowText(row, projection);
    texts.push(text);
    chars += row.data.length;
    if (chars < SLICE_BYTES) continue;
    chars = 0;
    await loopTurns.next(lane);
  }
  return texts;
}

function rowText(row: PageRow, projection: Projection | undefined): string {
  const text = pageRowJson(row);
  return projection === undefined ? text : JSON.stringify(project(JSON.parse(text), projection));
}

async function joined(parts: readonly (string | Buffer)[], lane: string): Promise<Buffer> {
  const whole = spareBuffers.take(parts.reduce((bytes, part) => bytes + Buffer.byteLength(part), 0));
  let at = 0;
  let sliceEnd = SLICE_BYTES;
  for (const part of parts) {
    at += typeof part === 'string' ? whole.write(part, at) : part.copy(whole, at);
    if (at < sliceEnd) continue;
    sliceEnd = at + SLICE_BYTES;
    await loopTurns.next(lane);
  }
  return whole;
}
