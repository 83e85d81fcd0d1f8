/** A thread that converts one file and ends. Whatever a file makes the libraries do, it does here, with little memory and little time. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import mammoth from 'mammoth';
import readWorkbook from 'read-excel-file/node';
import sanitize from 'sanitize-html';
import type { Converted, ConvertedSheet, ConvertTask } from './messages.ts';
import { repacked, UnpackRefused } from './unpack.ts';

// On Linux of this thread alone: on a machine with few cores the event loop and the database go first.
if (process.platform === 'linux') setPriority(0, 10);

const PREVIEW_ROWS = 50;
const PREVIEW_COLUMNS = 50;
const PREVIEW_CHARS = 200;

/** What mammoth makes of documents; links and pictures of documents are a stranger's. */
const ALLOWED: sanitize.IOptions = {
  allowedTags: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'a', 'img', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'blockquote', 'pre', 'code'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td', 'strong', 'em', 'b', 'i', 'u', 's', 'sub', 'sup', 'span'],
  ],
  allowedAttributes: {
    a: ['href', 'id'],
    img: ['src', 'alt'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan'],
    li: ['id'],
    sup: ['id'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['data'] },
  allowProtocolRelative: false,
  transformTags: { a: sanitize.simpleTransform('a', { rel: 'noopener noreferrer nofollow' }) },
  exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !/^data:image\/(?:png|jpeg|gif|webp);base64,/.test(attribs.src ?? ''),
};

async function convert(task: ConvertTask): Promise<Converted> {
  const zip = await repacked(task.bytes, task.unpackedBytesMax);
  return task.kind === 'document' ? document(zip, task) : workbook(zip, task);
}

async function document(zip: Buffer, { htmlBytesMax }: ConvertTask): Promise<Converted> {
  const requireFew = (bytes: number) => {
    if (bytes > htmlBytesMax) throw new UnpackRefused(`The page made of the document has more than ${htmlBytesMax} bytes.`);
  };
  let pictureBytes = 0;
  // A document can show one picture any number of times, and each time it is in the page.
  const convertImage = mammoth.images.imgElement(async (image) => {
    requireFew(pictureBytes);
    const src = `data:${image.contentType};base64,${await image.readAsBase64String()}`;
    pictureBytes += src.length;
    return { src };
  });
  const { value } = await mammoth.convertToHtml({ buffer: zip }, { convertImage });
  // Pictures that failed are left out of the page: what was refused there is refused here.
  requireFew(Math.max(pictureBytes, Buffer.byteLength(value)));
  const html = sanitize(value, ALLOWED);
  requireFew(Buffer.byteLength(html));
  return { kind: 'document', html };
}

async function workbook(zip: Buffer, { cellsMax, sheetsMax, rowsBytesMax }: ConvertTask): Promise<Converted> {
  const found = await readWorkbook(zip);
  if (found.length > sheetsMax) throw new UnpackRefused(`The workbook has more than ${sheetsMax} sheets.`);
  let cells = 0;
  for (const { data } of found) for (const row of data) cells += row.length;
  if (cells > cellsMax) throw new UnpackRefused(`The workbook has more than ${cellsMax} cells.`);
  let rowsBytes = 0;
  // Each row has the names of all columns, which makes much more of it than there is in the file.
  const count = (line: string) => {
    rowsBytes += Buffer.byteLength(line);
    if (rowsBytes > rowsBytesMax) throw new UnpackRefused(`The rows of the workbook have more than ${rowsBytesMax} bytes.`);
    return line;
  };
  return { kind: 'workbook', sheets: found.map(({ sheet, data }) => sheetOf(sheet, data as readonly (readonly unknown[])[], count)) };
}

function sheetOf(name: string, data: readonly (readonly unknown[])[], count: (line: string) => string): ConvertedSheet {
  const names = columnNames(data[0] ?? []);
  const lines = data
    .slice(1)
    .map((row) => count(`${JSON.stringify(Object.fromEntries(names.map((column, at) => [column, jsonOf(row[at])])))}\n`));
  const preview = data
    .slice(0, PREVIEW_ROWS + 1)
    .map((row) => row.slice(0, PREVIEW_COLUMNS).map((cell) => String(jsonOf(cell) ?? '').slice(0, PREVIEW_CHARS)));
  return { name, ndjson: Buffer.from(lines.join('')), rows: lines.length, preview };
}

/** Each of its own: what is empty gets a number, what is there twice too. */
function columnNames(head: readonly unknown[]): string[] {
  const taken = new Set<string>();
  return head.map((cell, at) => {
    const given =
      String(jsonOf(cell) ?? '')
        .trim()
        .slice(0, 200) || `column_${at + 1}`;
    let name = given;
    for (let number = 2; taken.has(name); number += 1) name = `${given}_${number}`;
    taken.add(name);
    return name;
  });
}

function jsonOf(cell: unknown): string | number | boolean | null {
  if (cell instanceof Date) return Number.isNaN(cell.getTime()) ? null : cell.toISOString();
  return typeof cell === 'string' || typeof cell === 'number' || typeof cell === 'boolean' ? cell : null;
}

function refusedBecause(error: unknown): Converted {
  const message = error instanceof UnpackRefused ? error.message : 'The file is damaged, or not of its type.';
  return { kind: 'refused', message };
}

const outcome = await convert(workerData as ConvertTask).catch(refusedBecause);
parentPort?.postMessage(outcome);
