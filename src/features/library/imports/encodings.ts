/** In what encoding the text of a file is: spreadsheets and editors of Windows do not always write UTF-8. */
import { isUtf8 } from 'node:buffer';

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** By its byte order mark, else UTF-8 where it is that, else what Excel writes where Western European languages are spoken. */
export function encodingOf(bytes: Uint8Array): TextEncoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return isUtf8(bytes) ? 'utf-8' : 'windows-1252';
}

/** Without the byte order mark. What is no text in this encoding becomes U+FFFD. */
export function decode(bytes: Uint8Array, encoding: TextEncoding): string {
  if (encoding !== 'windows-1252') return new TextDecoder(encoding).decode(bytes);
  // Node's own decoder reads it as Latin-1 in many releases (nodejs/node#56542), which lacks what is in this table.
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return latin1.replace(/[\u0080-\u009f]/g, (char) => WINDOWS_1252[char.charCodeAt(0) - 0x80] ?? char);
}

/** Bytes 0x80 to 0x9f as the Encoding Standard has them; those without a character stay control characters. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
