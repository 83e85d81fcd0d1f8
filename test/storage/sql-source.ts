/**
 * Finds the SQL in the syntax tree of the program: every tagged template, with its included fragments filled in, and every literal of
 * statements built by hand. In `src` and `actors` a tagged template is SQL; `String.raw` is not.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { SqlTemplates } from './sql-templates.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = ['src', 'actors'];
/** Classes whose result goes to `unsafe`; a file that imports one builds SQL by hand. */
const BUILDERS: ReadonlySet<string> = new Set(['Statement', 'JournalStatement']);
/** Functions whose arguments are messages, not SQL. */
const SENTENCE_MAKERS: ReadonlySet<string> = new Set(['invalid']);
const STARTS_A_STATEMENT =
  /^\s*(select\s|insert into\s|update \w+ set\s|delete from\s|with \w+ as\s|declare\s|fetch\s|close\s|vacuum\s|create (table|index)\s|begin\b|isolation level\s)/;
const IS_SQL =
  /\b(select|from|where|on|and|or|not|in|is|as|case|coalesce|limit|offset|desc|array|left|to_jsonb|jsonb_typeof|order by|group by)\b.*[\s(]|::|^ (and|or|desc) ?$|^[a-z]\.\w+$/s;

export interface SqlStatement {
  readonly place: string;
  /** Texts with `$1`, `$2` … for the parameters, one for each combination of its fragments. */
  readonly texts: readonly string[];
}

export interface SqlPiece {
  readonly place: string;
  /** The text between the substitutions. */
  readonly parts: readonly string[];
}

export interface SqlSource {
  readonly statements: readonly SqlStatement[];
  /** Literals of statements built by hand. */
  readonly pieces: readonly SqlPiece[];
  /** The functions that send such statements, as `file.ts#function`. */
  readonly unsafe: readonly string[];
}

/** Whether a text consists of these parts, with anything between them. */
export function isMadeOf({ parts }: SqlPiece, text: string): boolean {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}

/** Templates of anything but SQL. */
const OTHER_TAGS: ReadonlySet<string> = new Set(['String.raw', 'html']);

export function readSqlSource(root = ROOT): SqlSource {
  const files = SOURCES.flatMap((folder) => sourceFiles(join(root, folder)));
  const parsed = new Map(files.map((file) => [file, ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)]));
  const placeOf = (node: ts.Node) => {
    const source = node.getSourceFile();
    return `${relative(root, source.fileName)}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
  };
  const templates = new SqlTemplates(parsed, placeOf);
  const pieces: SqlPiece[] = [];
  const unsafe: string[] = [];
  for (const source of parsed.values()) {
    const isBuilder = importsBuilder(source) || source.text.includes('.unsafe');
    eachNode(source, (node) => {
      if (ts.isTaggedTemplateExpression(node) && !OTHER_TAGS.has(node.tag.getText())) templates.add(node);
      const parts = literalParts(node);
      if (parts !== undefined && isPiece(node, parts, isBuilder)) pieces.push({ place: placeOf(node), parts });
      if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'unsafe') {
        unsafe.push(`${source.fileName.split('/').at(-1)}#${enclosingFunction(node)}`);
      }
    });
  }
  return { statements: templates.statements(), pieces, unsafe };
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

function eachNode(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => eachNode(child, visit));
}

function importsBuilder(source: ts.SourceFile): boolean {
  return source.statements.some((statement) => {
    const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
    return bindings !== undefined && ts.isNamedImports(bindings) && bindings.elements.some(({ name }) => BUILDERS.has(name.text));
  });
}

/** The text between the substitutions of an untagged literal. */
function literalParts(node: ts.Node): readonly string[] | undefined {
  if (ts.isSourceFile(node)) return undefined;
  if (ts.isTaggedTemplateExpression(node.parent) || ts.isImportDeclaration(node.parent) || ts.isLiteralTypeNode(node.parent))
    return undefined;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text];
  return ts.isTemplateExpression(node) ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)] : undefined;
}

function isPiece(node: ts.Node, parts: readonly string[], isBuilder: boolean): boolean {
  const text = parts.join('?');
  if (isSentence(node)) return false;
  return STARTS_A_STATEMENT.test(text) || (isBuilder && IS_SQL.test(text));
}

function isSentence(node: ts.Node): boolean {
  for (let at = node.parent; !ts.isSourceFile(at) && !ts.isFunctionLike(at); at = at.parent) {
    if (ts.isNewExpression(at)) return true;
    if (ts.isCallExpression(at) && SENTENCE_MAKERS.has(at.expression.getText())) return true;
  }
  return false;
}

function enclosingFunction(node: ts.Node): string {
  for (let at = node.parent; !ts.isSourceFile(at); at = at.parent) {
    if ((ts.isFunctionDeclaration(at) || ts.isMethodDeclaration(at)) && at.name !== undefined) return at.name.getText();
  }
  return '';
}
