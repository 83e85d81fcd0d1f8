/** Turns tagged templates into the statements that the client sends for them. */
import { dirname, join } from 'node:path';
import ts from 'typescript';

const PARAMETER = Symbol('parameter');
/** A text with unnumbered parameters, because the numbers depend on the fragments before it. */
type Text = readonly (string | typeof PARAMETER)[];
/** Fragments that are passed as arguments, by the parameter of the function. */
type Bindings = ReadonlyMap<ts.Node, readonly Text[]>;
type FunctionNode = ts.FunctionDeclaration | ts.ArrowFunction | ts.FunctionExpression;

const CHOOSING: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.AmpersandAmpersandToken,
]);
const NOTHING_BOUND: Bindings = new Map();
/** More combinations of the fragments of one statement than this are a mistake. */
const TEXTS_MAX = 256;

export class SqlTemplates {
  readonly #files: ReadonlyMap<string, ts.SourceFile>;
  readonly #placeOf: (node: ts.Node) => string;
  readonly #templates: ts.TaggedTemplateExpression[] = [];
  /** Templates that are included in another and are only sent as its part. */
  readonly #included = new Set<ts.Node>();
  readonly #calls: ts.Node[] = [];

  constructor(files: ReadonlyMap<string, ts.SourceFile>, placeOf: (node: ts.Node) => string) {
    this.#files = files;
    this.#placeOf = placeOf;
  }

  add(template: ts.TaggedTemplateExpression): void {
    this.#templates.push(template);
  }

  /**
   * A fragment that is not recognised where it is included counts as a parameter there and as a statement here. At least one of the two then
   * cannot be prepared, so nothing is skipped silently.
   */
  statements(): { readonly place: string; readonly texts: readonly string[] }[] {
    const all = this.#templates.map((template) => ({ template, texts: this.#expand(template, NOTHING_BOUND) }));
    return all
      .filter(({ template }) => !this.#included.has(template))
      .map(({ template, texts }) => ({ place: this.#placeOf(template), texts: [...new Set(texts.map(numbered))] }));
  }

  #expand({ tag, template }: ts.TaggedTemplateExpression, bound: Bindings): readonly Text[] {
    if (ts.isNoSubstitutionTemplateLiteral(template)) return [[template.text]];
    let texts: readonly Text[] = [[template.head.text]];
    for (const { expression, literal } of template.templateSpans) {
      const values = this.#insertHelper(expression, tag) ?? this.#fragments(expression, bound) ?? [[PARAMETER]];
      texts = texts.flatMap((text) => values.map((value) => [...text, ...value, literal.text]));
      if (texts.length > TEXTS_MAX) throw new Error(`${this.#placeOf(tag)} has more than ${TEXTS_MAX} forms`);
    }
    return texts;
  }

  /** The possible texts of an expression that is a fragment; undefined for a value. */
  #fragments(expression: ts.Expression, bound: Bindings): readonly Text[] | undefined {
    if (ts.isTaggedTemplateExpression(expression)) {
      this.#included.add(expression);
      return this.#expand(expression, bound);
    }
    if (ts.isParenthesizedExpression(expression) || ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression)) {
      return this.#fragments(expression.expression, bound);
    }
    if (ts.isConditionalExpression(expression)) return this.#either(expression.whenTrue, expression.whenFalse, bound);
    if (ts.isBinaryExpression(expression) && CHOOSING.has(expression.operatorToken.kind)) {
      return this.#either(expression.left, expression.right, bound);
    }
    if (ts.isIdentifier(expression)) {
      const found = this.#declaration(expression);
      if (found === undefined) return undefined;
      if (bound.has(found)) return bound.get(found);
      return ts.isVariableDeclaration(found) && found.initializer !== undefined ? this.#fragments(found.initializer, bound) : undefined;
    }
    return ts.isCallExpression(expression) ? this.#called(expression, bound) : undefined;
  }

  #either(one: ts.Expression, other: ts.Expression, bound: Bindings): readonly Text[] | undefined {
    const [first, second] = [this.#fragments(one, bound), this.#fragments(other, bound)];
    return first === undefined && second === undefined ? undefined : [...(first ?? [[PARAMETER]]), ...(second ?? [[PARAMETER]])];
  }

  #called(call: ts.CallExpression, bound: Bindings): readonly Text[] | undefined {
    const { expression: callee, arguments: given } = call;
    if (ts.isPropertyAccessExpression(callee) && callee.name.text === 'reduce') return this.#reduced(callee.expression, given[0], bound);
    const made = ts.isIdentifier(callee) ? functionOf(this.#declaration(callee)) : undefined;
    // An async function returns rows, not a fragment; a function that is being resolved already adds no new text.
    if (made === undefined || this.#calls.includes(made) || made.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword)) {
      return undefined;
    }
    const inside = new Map(bound);
    for (const [at, parameter] of made.parameters.entries()) {
      const argument = given[at];
      const texts = argument === undefined ? undefined : this.#fragments(argument, bound);
      if (texts !== undefined) inside.set(parameter, texts);
    }
    this.#calls.push(made);
    const texts = returned(made).flatMap((result) => this.#fragments(result, inside) ?? []);
    this.#calls.pop();
    return texts.length === 0 ? undefined : texts;
  }

  /**
   * Resolves `[a, ...(b ? [c] : [])].reduce((sum, each) => sql...)` with every optional element included: each form of each element beside the first
   * form of the others, because they do not depend on each other, and all combinations are too many.
   */
  #reduced(list: ts.Expression, step: ts.Expression | undefined, bound: Bindings): readonly Text[] | undefined {
    if (step === undefined || !ts.isArrowFunction(step) || ts.isBlock(step.body)) return undefined;
    const [sum, each] = step.parameters;
    if (sum === undefined || each === undefined) return undefined;
    const elements = this.#elements(list).map((element) => this.#fragments(element, bound));
    let texts = elements[0];
    for (const element of elements.slice(1)) {
      if (texts === undefined || element === undefined) return undefined;
      const [first, another] = [texts.slice(0, 1), element.slice(0, 1)];
      const withFirst = this.#fragments(step.body, new Map([...bound, [sum, texts], [each, another]]));
      const others = this.#fragments(step.body, new Map([...bound, [sum, first], [each, element.slice(1)]]));
      texts = [...(withFirst ?? []), ...(others ?? [])];
    }
    return texts;
  }

  #elements(list: ts.Expression): readonly ts.Expression[] {
    if (ts.isIdentifier(list)) {
      const found = this.#declaration(list);
      return found !== undefined && ts.isVariableDeclaration(found) && found.initializer ? this.#elements(found.initializer) : [];
    }
    if (ts.isParenthesizedExpression(list)) return this.#elements(list.expression);
    if (ts.isConditionalExpression(list)) return [...this.#elements(list.whenTrue), ...this.#elements(list.whenFalse)];
    if (!ts.isArrayLiteralExpression(list)) return [];
    return list.elements.flatMap((element) => (ts.isSpreadElement(element) ? this.#elements(element.expression) : [element]));
  }

  /** Resolves `sql(rows)` after `insert into`, where `rows` comes from a `map` to an object literal. */
  #insertHelper(expression: ts.Expression, tag: ts.Expression): readonly Text[] | undefined {
    if (!ts.isCallExpression(expression) || expression.expression.getText() !== tag.getText()) return undefined;
    const columns = this.#rowColumns(expression.arguments[0]);
    if (columns === undefined) throw new Error(`${this.#placeOf(expression)}: the columns of these rows are unknown`);
    const values = columns.flatMap((_, at) => (at === 0 ? [PARAMETER] : [', ', PARAMETER]) as Text);
    return [[`(${columns.map((name) => `"${name}"`).join(', ')}) values (`, ...values, ')']];
  }

  #rowColumns(rows: ts.Expression | undefined): readonly string[] | undefined {
    const found = rows !== undefined && ts.isIdentifier(rows) ? this.#declaration(rows) : undefined;
    const made = found !== undefined && ts.isVariableDeclaration(found) ? found.initializer : undefined;
    const step = made !== undefined && ts.isCallExpression(made) ? made.arguments[0] : undefined;
    const row =
      step !== undefined && ts.isArrowFunction(step) && ts.isParenthesizedExpression(step.body) ? step.body.expression : undefined;
    if (row === undefined || !ts.isObjectLiteralExpression(row) || row.properties.some(ts.isSpreadAssignment)) return undefined;
    return row.properties.map((property) => property.name?.getText() ?? '');
  }

  /** Resolves a name to its variable, parameter or function, here or in the imported file. */
  #declaration(name: ts.Identifier): ts.Node | undefined {
    for (let at: ts.Node = name.parent; at !== undefined; at = at.parent) {
      if (ts.isFunctionLike(at)) {
        const parameter = at.parameters.find((each) => binds(each.name, name.text));
        if (parameter !== undefined) return parameter;
      }
      if (!ts.isBlock(at) && !ts.isSourceFile(at)) continue;
      const found = declared(at.statements, name.text);
      if (found === undefined) continue;
      return ts.isImportDeclaration(found) ? this.#imported(found, name.text) : found;
    }
    return undefined;
  }

  #imported(declaration: ts.ImportDeclaration, name: string): ts.Node | undefined {
    const specifier = (declaration.moduleSpecifier as ts.StringLiteral).text;
    const file = this.#files.get(join(dirname(declaration.getSourceFile().fileName), specifier));
    return file === undefined ? undefined : declared(file.statements, name);
  }
}

function numbered(text: Text): string {
  let count = 0;
  return text.map((part) => (part === PARAMETER ? `$${++count}` : part)).join('');
}

function declared(statements: readonly ts.Statement[], name: string): ts.Node | undefined {
  for (const statement of statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name?.text === name) return statement;
    if (ts.isVariableStatement(statement)) {
      const found = statement.declarationList.declarations.find((each) => binds(each.name, name));
      if (found !== undefined) return ts.isIdentifier(found.name) ? found : found.name;
    }
    const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
    if (bindings !== undefined && ts.isNamedImports(bindings) && bindings.elements.some((each) => each.name.text === name))
      return statement;
  }
  return undefined;
}

function binds(pattern: ts.BindingName, name: string): boolean {
  if (ts.isIdentifier(pattern)) return pattern.text === name;
  return pattern.elements.some((element) => ts.isBindingElement(element) && binds(element.name, name));
}

function functionOf(node: ts.Node | undefined): FunctionNode | undefined {
  if (node === undefined) return undefined;
  if (ts.isFunctionDeclaration(node)) return node;
  const made = ts.isVariableDeclaration(node) ? node.initializer : undefined;
  return made !== undefined && (ts.isArrowFunction(made) || ts.isFunctionExpression(made)) ? made : undefined;
}

/** The expressions that a function returns. */
function returned({ body }: FunctionNode): readonly ts.Expression[] {
  if (body === undefined) return [];
  if (!ts.isBlock(body)) return [body];
  const results: ts.Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return;
    if (ts.isReturnStatement(node) && node.expression !== undefined) results.push(node.expression);
    ts.forEachChild(node, visit);
  };
  visit(body);
  return results;
}
