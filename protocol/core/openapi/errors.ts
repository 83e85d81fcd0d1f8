/**
 * Error responses. The `default` response of an operation lists all its codes as literals, because separate responses for each status would
 * be most of the document. Operations with the same codes share it as a component; the description of the document has each code's status.
 */
import { type ErrorCode, wireCodeOf } from '../errors.ts';
import { namesOf } from './names.ts';
import type { Json } from './schemas.ts';

interface Operation {
  readonly group: string;
  readonly codes: readonly ErrorCode[];
}

/**
 * Codes that follow from the kind of an operation: who may call it, and whether it takes a body, an Idempotency-Key or live data. There are
 * few kinds, so that their sets of codes have names.
 */
const IMPLIED: ReadonlySet<ErrorCode> = new Set([
  'INVALID_REQUEST',
  'INVALID_JSON',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'INSUFFICIENT_SCOPE',
  'ORIGIN_REFUSED',
  'ARTIFACT_NOT_FOUND',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
  'IDEMPOTENCY_ANSWER_NOT_KEPT',
  'LENGTH_REQUIRED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'OWNER_MOVED',
  'UNAVAILABLE',
] satisfies ErrorCode[]);

/** Names the sets of codes, and collects the responses that they are. */
export class ErrorResponses {
  /** Names of the responses that several operations share, by the codes as JSON. */
  readonly #responses: ReadonlyMap<string, string>;
  readonly #kinds: ReadonlyMap<string, string>;

  constructor(operations: readonly Operation[]) {
    this.#responses = namesOf(
      operations.map(({ group, codes }) => ({ json: keyOf(codes), wanted: `${group}Errors` })),
      2,
    );
    this.#kinds = namesOf(
      operations.map(({ codes }) => ({ json: keyOf(impliedOf(codes)), wanted: kindOf(codes) })),
      1,
    );
  }

  /** The error response of an operation that answers `codes`. */
  of(codes: readonly ErrorCode[]): Json {
    const name = this.#responses.get(keyOf(codes));
    return { default: name === undefined ? this.#responseOf(codes) : { $ref: `#/components/responses/${name}` } };
  }

  /** Every shared response, by its name. */
  responses(): Json {
    return Object.fromEntries([...this.#responses].map(([key, name]) => [name, this.#responseOf(JSON.parse(key) as ErrorCode[])]));
  }

  /** The codes of each kind of operation, by the name of the kind. */
  schemas(): Json {
    return Object.fromEntries([...this.#kinds].map(([key, name]) => [name, { type: 'string', enum: JSON.parse(key) }]));
  }

  #responseOf(codes: readonly ErrorCode[]): Json {
    const implied = { $ref: `#/components/schemas/${this.#kindNameOf(codes)}` };
    const own = [...new Set(codes.filter((code) => !IMPLIED.has(code)).map(wireCodeOf))].sort();
    const code = own.length === 0 ? implied : { anyOf: [implied, { enum: own }] };
    const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code } }] };
    return { description: 'An error.', content: { 'application/json': { schema } } };
  }

  #kindNameOf(codes: readonly ErrorCode[]): string {
    const name = this.#kinds.get(keyOf(impliedOf(codes)));
    if (name === undefined) throw new Error(`No operation was announced with the codes ${codes.join(', ')}.`);
    return name;
  }
}

function impliedOf(codes: readonly ErrorCode[]): readonly ErrorCode[] {
  return codes.filter((code) => IMPLIED.has(code));
}

function kindOf(codes: readonly ErrorCode[]): string {
  const has = (code: ErrorCode) => codes.includes(code);
  const subject = has('OWNER_MOVED') ? 'Data' : has('ARTIFACT_NOT_FOUND') ? 'Artifact' : has('UNAUTHORIZED') ? 'Account' : 'Any';
  const body = has('INVALID_JSON') ? 'Json' : has('UNSUPPORTED_MEDIA_TYPE') ? 'Bytes' : '';
  return `${subject}${body}${has('IDEMPOTENCY_KEY_REUSED') ? 'Post' : ''}Code`;
}

function keyOf(codes: readonly ErrorCode[]): string {
  return JSON.stringify([...codes].sort());
}
