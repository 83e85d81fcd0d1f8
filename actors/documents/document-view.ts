/** Views of a Yjs document for callers without a Yjs client. Reads only: requesting a type by name from Yjs would fix its kind for all clients. */
import * as Y from 'yjs';
import type { RootKind } from '../../protocol/data/documents.ts';

type Root = Y.Doc['share'] extends Map<string, infer R> ? R : never;
/** By the name of the shared type. */
export type RootKinds = Readonly<Record<string, RootKind>>;

export type View =
  /** The JSON text of `{type: content}`. */
  | { readonly what: 'json' }
  /** One shared text; '' where `textRoot` cannot tell which. */
  | { readonly what: 'text'; readonly type: string | undefined };

export interface Viewed {
  readonly types: RootKinds;
  readonly text: string;
}

/** May take as long as the document is large. Throws RangeError where its types are nested deeper than the call stack. */
export function viewDocument(doc: Y.Doc, view: View): Viewed {
  const types: RootKinds = Object.fromEntries([...doc.share].map(([name, root]) => [name, rootKind(root)]));
  if (view.what === 'text') {
    const root = doc.share.get(textRoot(types, view.type) ?? '');
    return { types, text: root === undefined ? '' : textOf(root) };
  }
  const content = Object.fromEntries([...doc.share].map(([name, root]) => [name, contentOf(root, types[name] ?? 'empty')]));
  return { types, text: JSON.stringify(content, jsonValue) };
}

/** The name of the requested text, or else of the only text. If there is none, an empty type may be the text. */
export function textRoot(types: RootKinds, wanted: string | undefined): string | undefined {
  if (wanted !== undefined) return types[wanted] === 'text' || types[wanted] === 'empty' ? wanted : undefined;
  const names = Object.keys(types);
  const texts = names.filter((name) => types[name] === 'text');
  const empty = names.filter((name) => types[name] === 'empty');
  const [only, ...more] = texts.length > 0 ? texts : empty;
  return more.length === 0 ? only : undefined;
}

/**
 * Infers the kind from the content, because Yjs does not store it. Only texts have characters, formats and embeds; only arrays have values;
 * XML holds XML. Deleted content gives no evidence.
 */
export function rootKind(root: Root): RootKind {
  let kind: RootKind = root._map.size > 0 ? 'map' : 'empty';
  for (let item = root._start; item !== null; item = item.right) {
    const { content } = item;
    if (content instanceof Y.ContentString || content instanceof Y.ContentFormat || content instanceof Y.ContentEmbed) return 'text';
    if (content instanceof Y.ContentType) kind = isXml(content.type) ? 'xml' : 'array';
    else if (!(content instanceof Y.ContentDeleted)) return 'array';
  }
  return kind;
}

function isXml(type: Root): boolean {
  return type instanceof Y.XmlFragment || type instanceof Y.XmlText || type instanceof Y.XmlHook;
}

function contentOf(root: Root, kind: RootKind): unknown {
  switch (kind) {
    case 'text':
      return textOf(root);
    case 'xml':
      return valuesOf(root).map(String).join('');
    case 'array':
      return valuesOf(root).map(plain);
    case 'map':
      return mapOf(root);
    case 'empty':
      return null;
    default:
      return kind satisfies never;
  }
}

function textOf(root: Root): string {
  const parts: string[] = [];
  for (let item = root._start; item !== null; item = item.right) {
    if (!item.deleted && item.content instanceof Y.ContentString) parts.push(item.content.str);
  }
  return parts.join('');
}

function valuesOf(root: Root): unknown[] {
  const values: unknown[] = [];
  for (let item = root._start; item !== null; item = item.right) {
    if (!item.deleted && item.countable) for (const value of item.content.getContent()) values.push(value);
  }
  return values;
}

function mapOf(root: Root): unknown {
  const entries = [...root._map].filter(([, item]) => !item.deleted);
  return Object.fromEntries(entries.map(([key, item]) => [key, plain(item.content.getContent()[item.length - 1])]));
}

/** A nested type knows what it is. */
function plain(value: unknown): unknown {
  return value instanceof Y.AbstractType ? value.toJSON() : value;
}

/** For JSON.stringify: what Yjs holds and JSON does not. */
function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}
