/** Close codes of WebSockets. After 4400–4499 the client must not reconnect, because it would be refused again; after all others it may. Source: design.md, "Channels". */
export const CLOSE = {
  goingAway: 1001,
  tooBig: 1009,
  overloaded: 1013,
  malformed: 4400,
  unauthorized: 4401,
  revoked: 4403,
  gone: 4404,
  timeout: 4408,
  superseded: 4409,
  refused: 4413,
  moved: 4503,
} as const;

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];

export function isFinal(code: number): boolean {
  return code >= 4400 && code < 4500 && code !== CLOSE.timeout;
}
