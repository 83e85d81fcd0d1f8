/** What a file becomes: the files of a page, and the rows of datasets. */
import { DATASET_TYPES } from '../../../../protocol/data/datasets.ts';
import { Html, html } from '../../../edge/html.ts';
import type { Converter } from './convert/converter.ts';
import type { ConvertedSheet } from './convert/messages.ts';
import { csvShape, type Delimiter } from './delimiters.ts';
import { decode, encodingOf, type TextEncoding } from './encodings.ts';
import type { KnownFile } from './file-kinds.ts';
import { type PageFile, page } from './pages.ts';

export interface MadeDataset {
  readonly name: string;
  readonly type: (typeof DATASET_TYPES)['csv' | 'ndjson'];
  readonly bytes: Uint8Array;
  /** Of a CSV file. */
  readonly delimiter?: Delimiter;
}

export interface Warning {
  readonly code: 'CONVERSION_FAILED' | 'ENCODING_GUESSED';
  readonly message: string;
}

export interface Made {
  readonly files: readonly PageFile[];
  readonly datasets: readonly MadeDataset[];
  readonly outcome: 'imported' | 'converted';
  /** Why it was not converted, or what may be wrong with it. */
  readonly warnings: readonly Warning[];
}

/** Of a text file so much is shown in the page; all of it is in the file. */
const SHOWN_TEXT_BYTES = 2 * 1024 * 1024;
const PREVIEW_LINES = 50;
const PREVIEW_CHARS = 16 * 1024;

export interface Given {
  readonly name: string;
  readonly known: KnownFile;
  readonly bytes: Buffer;
  readonly convert: boolean;
}

/** Throws the reason of `signal`. */
export async function make(converter: Pick<Converter, 'convert'>, given: Given, signal: AbortSignal): Promise<Made> {
  const { name, known, bytes, convert } = given;
  if (known.kind === 'page') return imported([{ path: 'index.html', mime: known.mime, bytes }]);
  if (!convert) return asFile(given);
  switch (known.kind) {
    case 'csv':
      return rowsOfCsv(given);
    case 'document':
    case 'workbook': {
      const converted = await converter.convert(known.kind, bytes, signal);
      if (converted.kind === 'refused') return asFile(given, [{ code: 'CONVERSION_FAILED', message: converted.message }]);
      if (converted.kind === 'workbook') return sheetsOf(given, converted.sheets);
      // It is clean already.
      const files = [page(name, new Html(converted.html))];
      return { files, datasets: [], outcome: 'converted', warnings: [] };
    }
    case 'text':
    case 'image':
    case 'pdf':
      return asFile(given);
    default:
      return known.kind satisfies never;
  }
}

function imported(files: readonly PageFile[], warnings: readonly Warning[] = []): Made {
  return { files, datasets: [], outcome: 'imported', warnings };
}

function fileOf({ known, bytes }: Given): PageFile {
  // The same path in every script: names of files are no names of paths.
  const path = `file${known.extension}`;
  if (known.kind !== 'text' && known.kind !== 'csv') return { path, mime: known.mime, bytes };
  return { path, mime: known.mime.replace('charset=utf-8', `charset=${encodingOf(bytes)}`), bytes };
}

function asFile(given: Given, warnings?: readonly Warning[]): Made {
  const file = fileOf(given);
  return imported([page(given.name, shown(given, file.path)), file], warnings);
}

function shown({ name, known, bytes }: Given, path: string): Html {
  const link = html`<p><a href="${path}" download="${name}">${name}</a></p>`;
  switch (known.kind) {
    case 'image':
      return html`<p><img src="${path}" alt="${name}"></p>`;
    case 'pdf':
      return html`<embed src="${path}" type="application/pdf" title="${name}">${link}`;
    case 'text':
    case 'csv':
      return html`<pre>${decode(bytes.subarray(0, SHOWN_TEXT_BYTES), encodingOf(bytes))}</pre>${bytes.length > SHOWN_TEXT_BYTES && link}`;
    case 'document':
    case 'workbook':
    case 'page':
      return html`<h1>${name}</h1>${link}`;
    default:
      return known.kind satisfies never;
  }
}

function rowsOfCsv(given: Given): Made {
  const file = fileOf(given);
  const encoding = encodingOf(given.bytes);
  const text = decode(given.bytes, encoding);
  const { delimiter, from } = csvShape(text);
  const lines = text
    .slice(from, from + PREVIEW_CHARS)
    .split('\n')
    .slice(0, PREVIEW_LINES)
    .join('\n');
  const body = html`<h1>${given.name}</h1><pre>${lines}</pre><p><a href="${file.path}" download="${given.name}">${given.name}</a></p>`;
  const bytes = encoding === 'utf-8' && from === 0 ? given.bytes : Buffer.from(text.slice(from));
  const datasets = [{ name: 'rows', type: DATASET_TYPES.csv, bytes, delimiter }];
  return { files: [page(given.name, body), file], datasets, outcome: 'converted', warnings: warningsOf(encoding, text) };
}

function warningsOf(encoding: TextEncoding, text: string): Warning[] {
  if (encoding === 'windows-1252')
    return [{ code: 'ENCODING_GUESSED', message: 'It is not UTF-8 and was read as Windows-1252. If letters are wrong, save it as UTF-8.' }];
  if (encoding === 'utf-8' || !text.includes('\ufffd')) return [];
  return [{ code: 'CONVERSION_FAILED', message: `Some of it is no text in ${encoding.toUpperCase()} and was replaced by \ufffd.` }];
}

function sheetsOf(given: Given, sheets: readonly ConvertedSheet[]): Made {
  const file = fileOf(given);
  const parts = sheets.map(({ name, rows, preview }) => {
    const [head = [], ...body] = preview;
    const shownRows = body.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`);
    return html`<h2>${name}</h2><table><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr>${shownRows}</table>${rows > body.length && html`<p>…</p>`}`;
  });
  const body = html`<h1>${given.name}</h1>${parts}<p><a href="${file.path}" download="${given.name}">${given.name}</a></p>`;
  const datasets = sheets
    .map(({ ndjson, rows }, at) => ({ name: at === 0 ? 'rows' : `sheet_${at + 1}`, type: DATASET_TYPES.ndjson, bytes: ndjson, rows }))
    .filter(({ rows }) => rows > 0)
    .map(({ name, type, bytes }) => ({ name, type, bytes }));
  return { files: [page(given.name, body), file], datasets, outcome: 'converted', warnings: [] };
}
