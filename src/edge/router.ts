/** Finds the operation of a method and path in the endpoint table. A literal segment wins over a parameter where both match. */

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

function routed<O>(operation: O | undefined, values: readonly string[]): Routed<O> | undefined {
  return operation === undefined ? undefined : { kind: 'routed', operation, values };
}

/** The names of a path's parameters, in order. */
export function parameterNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\*?\}/g)].map((match) => match[1] ?? '');
}

export class Router<O> {
  readonly #root: Node<O> = node();
  readonly #takes: (operation: O, values: readonly string[]) => boolean;

  /** `takes`: whether these can be the operation's parameters. It is called where a literal segment of another path would be one of them. */
  constructor(takes: (operation: O, values: readonly string[]) => boolean = () => true) {
    this.#takes = takes;
  }

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
    // Every GET also answers HEAD, without the body.
    const wanted = method === 'HEAD' ? 'GET' : method;
    return this.#straight(wanted, path) ?? this.#everywhere(wanted, path);
  }

  /** The fast path: takes the literal at each segment that has one. Undefined where that does not lead to an operation. */
  #straight(method: string, path: string): Routed<O> | undefined {
    const values: string[] = [];
    let at = this.#root;
    let start = 1;
    for (;;) {
      const slash = path.indexOf('/', start);
      const segment = slash === -1 ? path.slice(start) : path.slice(start, slash);
      const next = at.literals.get(segment) ?? at.parameter;
      if (next === undefined) {
        values.push(path.slice(start));
        return routed(at.rest?.get(method), values);
      }
      if (next === at.parameter) values.push(segment);
      at = next;
      if (slash === -1) return routed(at.operations?.get(method), values);
      start = slash + 1;
    }
  }

  /** Tries every match, literals before parameters before the rest. Returns the first with the method, else the methods of all of them. */
  #everywhere(method: string, path: string): RouteResult<O> {
    const segments = path.split('/').slice(1);
    const known = new Set<string>();
    const end = (operations: Map<string, O> | undefined, values: readonly string[], passedLiteral: boolean) => {
      let found: Routed<O> | undefined;
      for (const [one, operation] of operations ?? []) {
        if (passedLiteral && !this.#takes(operation, values)) continue;
        known.add(one);
        if (one === method) found = { kind: 'routed', operation, values };
      }
      return found;
    };
    const visit = (at: Node<O>, depth: number, values: readonly string[], passedLiteral: boolean): Routed<O> | undefined => {
      const segment = segments[depth];
      if (segment === undefined) return end(at.operations, values, passedLiteral);
      const literal = at.literals.get(segment);
      const passed = passedLiteral || literal !== undefined;
      return (
        (literal && visit(literal, depth + 1, values, passedLiteral)) ??
        (at.parameter && visit(at.parameter, depth + 1, [...values, segment], passed)) ??
        end(at.rest, [...values, segments.slice(depth).join('/')], passed)
      );
    };
    const found = visit(this.#root, 0, [], false);
    if (found !== undefined) return found;
    if (known.size === 0) return UNKNOWN;
    const allow = [...known].flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one]));
    return { kind: 'wrong_method', allow: allow.join(', ') };
  }

  #put(operations: Map<string, O>, method: string, path: string, operation: O): void {
    if (operations.has(method)) throw new Error(`Two endpoints answer ${method} ${path}`);
    operations.set(method, operation);
  }
}
