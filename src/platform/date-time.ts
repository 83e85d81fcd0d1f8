/** RFC 3339 UTC with milliseconds: how every reply writes a time. */
export function dateTime(ms: number): string {
  return new Date(ms).toISOString();
}
