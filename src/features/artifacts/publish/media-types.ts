/** The media type of a file whose publisher names none. */
import mime from 'mime';

const UNKNOWN = 'application/octet-stream';

/** By extension. Text is UTF-8 unless the publisher says otherwise: without a charset browsers guess. */
export function mediaTypeOf(path: string, given: string | undefined): string {
  const type = given ?? mime.getType(path) ?? UNKNOWN;
  return type.startsWith('text/') && !/;\s*charset=/i.test(type) ? `${type}; charset=utf-8` : type;
}
