/** What a file is, by its name, else by the type that its provider names. */
import { DATASET_TYPES } from '../../../../protocol/data/datasets.ts';

export type FileKind = 'page' | 'text' | 'image' | 'pdf' | 'document' | 'workbook' | 'csv';

const DOCUMENT = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const WORKBOOK = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

interface Known {
  readonly kind: FileKind;
  /** With which it is stored. */
  readonly mime: string;
}

const TEXT: Known = { kind: 'text', mime: 'text/plain; charset=utf-8' };
const BY_EXTENSION: Readonly<Record<string, Known>> = {
  html: { kind: 'page', mime: 'text/html; charset=utf-8' },
  htm: { kind: 'page', mime: 'text/html; charset=utf-8' },
  md: { kind: 'text', mime: 'text/markdown; charset=utf-8' },
  markdown: { kind: 'text', mime: 'text/markdown; charset=utf-8' },
  ...{ txt: TEXT, text: TEXT, log: TEXT, json: TEXT, yaml: TEXT, yml: TEXT, tsv: TEXT },
  png: { kind: 'image', mime: 'image/png' },
  jpg: { kind: 'image', mime: 'image/jpeg' },
  jpeg: { kind: 'image', mime: 'image/jpeg' },
  gif: { kind: 'image', mime: 'image/gif' },
  webp: { kind: 'image', mime: 'image/webp' },
  avif: { kind: 'image', mime: 'image/avif' },
  svg: { kind: 'image', mime: 'image/svg+xml' },
  pdf: { kind: 'pdf', mime: 'application/pdf' },
  docx: { kind: 'document', mime: DOCUMENT },
  xlsx: { kind: 'workbook', mime: WORKBOOK },
  csv: { kind: 'csv', mime: 'text/csv; charset=utf-8' },
};

const EXTENSION_OF: Readonly<Record<string, string>> = {
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'application/pdf': 'pdf',
  [DOCUMENT]: 'docx',
  [WORKBOOK]: 'xlsx',
  [DATASET_TYPES.csv]: 'csv',
};

export interface KnownFile extends Known {
  /** With its dot; for a path that is the same in every script. */
  readonly extension: string;
}

/** Null for what cannot be shown. */
export function kindOf(name: string, mime: string): KnownFile | null {
  const named = /\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const typed = mime.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const extension = Object.hasOwn(BY_EXTENSION, named) ? named : Object.hasOwn(EXTENSION_OF, typed) ? EXTENSION_OF[typed] : undefined;
  const known = extension === undefined ? undefined : BY_EXTENSION[extension];
  return known === undefined ? null : { ...known, extension: `.${extension}` };
}

/** What is only worth something converted. */
export function needsConversion(kind: FileKind): boolean {
  return kind === 'document' || kind === 'workbook';
}
