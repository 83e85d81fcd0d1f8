/** Bodies and queries as Stripe takes them: `items[0][price]=…`. */
import { invalid } from './fake-stripe-things.ts';

/** Arrays are objects with numbers as names. */
export interface Body {
  readonly [name: string]: string | Body | undefined;
}

export function parseForm(text: string): Body {
  const root: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = [...name.matchAll(/[^[\]]+/g)].map(([part]) => part);
    let at = root;
    for (const part of path.slice(0, -1)) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>;
    }
    at[path.at(-1) ?? ''] = value;
  }
  return root as Body;
}

/** Stripe refuses what it does not know. */
export function requireKnown(body: Body, allowed: readonly string[]): void {
  for (const name of Object.keys(body)) {
    if (!allowed.includes(name)) throw invalid(`Received unknown parameter: ${name}`, { code: 'parameter_unknown', param: name });
  }
}

export function textOf(body: Body, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value === '')
    throw invalid(`Missing required param: ${name}.`, { code: 'parameter_missing', param: name });
  return value;
}

export function partOf(body: Body | undefined, ...names: readonly string[]): Body {
  let at: Body | string | undefined = body;
  for (const name of names) at = typeof at === 'object' ? at[name] : undefined;
  return typeof at === 'object' ? at : {};
}

export function numberOf(body: Body, name: string): number | null {
  const value = body[name];
  if (value === undefined) return null;
  if (typeof value !== 'string' || !/^\d+$/.test(value))
    throw invalid(`Invalid integer: ${String(value)}`, { code: 'parameter_invalid_integer', param: name });
  return Number(value);
}

export function textsOf(body: Body): Record<string, string> {
  return Object.fromEntries(Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
