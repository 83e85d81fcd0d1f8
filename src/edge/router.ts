/** Finds the operation of a method and path. Built from the endpoint table; a literal segment goes before a parameter. */

export interface Routed<O> {
  readonly kind: 'routed';
  readonly operation: O;
  /** Values of the path parameters in order, still percent-encoded. */
  readonly values: readonly string[];
}

export type RouteResult<O> = Routed<O> | { readonly kind: 'unknown' } | { readonly kind: 'wrong_method'; readonly allow: string };

interface Node<O> {
  readonly literals: Map<string, Node<O>>;
  parameter: Node<O> | undefined;
  /** Set where the path ends in `{rest*}`. */
  rest: Map<string, O> | undefined;
  operations: Map<string, O> | undefined;
}

const UNKNOWN = { kind: 'unknown' } as const;

function node<O>(): Node<O> {
  return { literals: new Map(), parameter: undefined, rest: undefined, operations: undefined };
}

/** The names of a path's parameters, in order. */
export function parameterNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\*?\}/g)].map((match) => match[1] ?? '');
}

export class Router<O> {
  readonly #root: Node<O> = node();

  add(method: string, path: string, operation: O): void {
    let at = this.#root;
    for (const segment of path.split('/').slice(1)) {
      if (segment.endsWith('*}')) {
        at.rest ??= new Map();
        this.#put(at.rest, method, path, operation);
        return;
      }
      if (segment.startsWith('{')) {
        at.parameter ??= node();
        at = at.parameter;
      } else {
        const next = at.literals.get(segment) ?? node<O>();
        at.literals.set(segment, next);
        at = next;
      }
    }
    at.operations ??= new Map();
    this.#put(at.operations, method, path, operation);
  }

  find(method: string, path: string): RouteResult<O> {
    const values: string[] = [];
    let at = this.#root;
    let operations: Map<string, O> | undefined;
    let start = 1;
    for (;;) {
      const slash = path.indexOf('/', start);
      const segment = slash === -1 ? path.slice(start) : path.slice(start, slash);
      const next = at.literals.get(segment) ?? at.parameter;
      if (next === undefined) {
        operations = at.rest;
        if (operations !== undefined) values.push(path.slice(start));
        break;
      }
      if (next === at.parameter) values.push(segment);
      at = next;
      if (slash === -1) {
        operations = at.operations;
        break;
      }
      start = slash + 1;
    }
    if (operations === undefined) return UNKNOWN;
    // HEAD is answered by every GET, without the body.
    const operation = operations.get(method === 'HEAD' ? 'GET' : method);
    if (operation !== undefined) return { kind: 'routed', operation, values };
    const allow = [...operations.keys()].flatMap((known) => (known === 'GET' ? ['GET', 'HEAD'] : [known]));
    return { kind: 'wrong_method', allow: allow.join(', ') };
  }

  #put(operations: Map<string, O>, method: string, path: string, operation: O): void {
    if (operations.has(method)) throw new Error(`Two endpoints answer ${method} ${path}`);
    operations.set(method, operation);
  }
}
