/** Operations on the shared types of a document. All are checked before the first is applied, because Yjs cannot roll a change back. */
import * as Y from 'yjs';
import { rootKind } from '../../../../../actors/documents/document-view.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import type { DocumentOp } from '../../../../../protocol/data/documents.ts';

type OpKind = 'text' | 'map' | 'array';

interface Planned {
  readonly kind: OpKind;
  /** The length after the operations checked so far. */
  length: number;
}

/** Throws INVALID_REQUEST for an operation that does not fit the state that the preceding ones leave. Changes nothing. */
export function checkOps(doc: Y.Doc, ops: readonly DocumentOp[]): void {
  const planned = new Map<string, Planned>();
  for (const [at, op] of ops.entries()) {
    const kind = kindOf(op);
    const type = planned.get(op.type) ?? { kind: requireKind(doc, op.type, kind, at), length: doc.share.get(op.type)?._length ?? 0 };
    planned.set(op.type, type);
    if (type.kind !== kind) throw invalid(at, 'type', `is used as ${type.kind} by an earlier operation`);
    if ('index' in op && op.index > type.length) throw invalid(at, 'index', `must be at most ${type.length}, the length of the type`);
    if ('length' in op && op.index + op.length > type.length)
      throw invalid(at, 'length', `reaches beyond ${type.length}, the length of the type`);
    type.length += growthOf(op);
  }
}

/** Call in a transaction, after `checkOps`. */
export function applyOps(doc: Y.Doc, ops: readonly DocumentOp[]): void {
  for (const op of ops) applyOp(doc, op);
}

function applyOp(doc: Y.Doc, op: DocumentOp): void {
  switch (op.op) {
    case 'text.append': {
      const text = doc.getText(op.type);
      text.insert(text.length, op.text);
      return;
    }
    case 'text.insert':
      doc.getText(op.type).insert(op.index, op.text);
      return;
    case 'text.delete':
      doc.getText(op.type).delete(op.index, op.length);
      return;
    case 'map.set':
      doc.getMap(op.type).set(op.key, op.value);
      return;
    case 'map.delete':
      doc.getMap(op.type).delete(op.key);
      return;
    case 'array.push':
      doc.getArray(op.type).push(op.values);
      return;
    case 'array.insert':
      doc.getArray(op.type).insert(op.index, op.values);
      return;
    case 'array.delete':
      doc.getArray(op.type).delete(op.index, op.length);
      return;
    default:
      op satisfies never;
  }
}

function kindOf({ op }: DocumentOp): OpKind {
  return op.slice(0, op.indexOf('.')) as OpKind;
}

function growthOf(op: DocumentOp): number {
  switch (op.op) {
    case 'text.append':
    case 'text.insert':
      return op.text.length;
    case 'array.push':
    case 'array.insert':
      return op.values.length;
    case 'text.delete':
    case 'array.delete':
      return -op.length;
    case 'map.set':
    case 'map.delete':
      return 0;
    default:
      return op satisfies never;
  }
}

const CLASSES = { text: Y.Text, map: Y.Map, array: Y.Array } as const;

/** The content decides the kind of a type. An empty type has the kind that it was first used as since the document was loaded. */
function requireKind(doc: Y.Doc, name: string, wanted: OpKind, at: number): OpKind {
  const root = doc.share.get(name);
  if (root === undefined) return wanted;
  const kind = rootKind(root);
  const isFree = kind === wanted || kind === 'empty';
  if (!isFree) throw invalid(at, 'type', `is of kind ${kind}, not ${wanted}`);
  if (root.constructor !== Y.AbstractType && root.constructor !== CLASSES[wanted]) {
    throw invalid(at, 'type', `is already used as a kind other than ${wanted}`);
  }
  return wanted;
}

function invalid(at: number, field: string, message: string): Failure {
  const path = `ops.${at}.${field}`;
  return new Failure('INVALID_REQUEST', { message: `${path}: ${message}.`, param: path, issues: [{ path, message }] });
}
