/** Checks whether an answer can be from Easel. Only top-level members are checked, because a newer server may send more or other values. */
import { z } from 'zod';
import type { Endpoint } from '../../../protocol/core/endpoint.ts';

/** True if the body has the top-level members of one of the endpoint's replies with this status. */
export function isReplyOf({ replies }: Endpoint, status: number, body: unknown): boolean {
  return Object.values(replies).some((reply) => reply.status === status && 'body' in reply && hasShape(reply.body, body));
}

function hasShape(schema: z.ZodType, body: unknown): boolean {
  if (!(schema instanceof z.ZodObject)) return true;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  return Object.entries(schema.shape).every(([name, member]) => {
    const value = (body as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) return member.safeParse(undefined).success;
    return !(member instanceof z.ZodArray) || Array.isArray(value);
  });
}
