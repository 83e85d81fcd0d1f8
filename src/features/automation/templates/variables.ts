/** The variables that a template declares. Source: spec.md, "Template". */
import { Failure } from '../../../../protocol/core/errors.ts';

export interface TemplateVariable {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'date';
  readonly required?: boolean | undefined;
  readonly default?: unknown;
  readonly description?: string | undefined;
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
const EXPECTED = { string: 'a text', number: 'a number', boolean: 'true or false', date: 'a date such as 2026-03-01' } as const;

/** The data with the defaults of what it lacks. Throws INVALID_REQUEST for a value of a wrong type and for a required one that is missing. */
export function withDefaults(variables: readonly TemplateVariable[], data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const added = variables.flatMap(({ name, type, required, default: usual }): [string, unknown][] => {
    const value = Object.hasOwn(data, name) ? data[name] : undefined;
    if (value !== undefined && value !== null) {
      if (!isOfType(value, type)) throw wrong(name, `must be ${EXPECTED[type]}`);
      return [];
    }
    if (usual !== undefined && usual !== null) return [[name, usual]];
    if (required === true) throw wrong(name, 'is required');
    return [];
  });
  return { ...data, ...Object.fromEntries(added) };
}

/** Throws INVALID_REQUEST for two variables of one name, and for a default of another type. */
export function requireVariables(variables: readonly TemplateVariable[]): void {
  const names = new Set<string>();
  for (const [at, { name, type, default: usual }] of variables.entries()) {
    const param = `variables.${at}`;
    if (names.has(name))
      throw new Failure('INVALID_REQUEST', { param: `${param}.name`, message: `${param}.name: ${name} is there twice.` });
    names.add(name);
    if (usual !== undefined && usual !== null && !isOfType(usual, type)) {
      throw new Failure('INVALID_REQUEST', { param: `${param}.default`, message: `${param}.default: must be ${EXPECTED[type]}.` });
    }
  }
}

function isOfType(value: unknown, type: TemplateVariable['type']): boolean {
  if (type !== 'date') return typeof value === type && (type !== 'number' || Number.isFinite(value));
  return typeof value === 'string' && DATE.test(value) && !Number.isNaN(Date.parse(value));
}

function wrong(name: string, what: string): Failure {
  return new Failure('INVALID_REQUEST', {
    param: `data.${name}`,
    message: `data.${name}: ${what}.`,
    hint: `Send data with the variable ${name}.`,
  });
}
