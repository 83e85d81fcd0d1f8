/** Checks that the bytes of a file match its media type, because pages embed blobs by that type. */
import { fileTypeFromFile } from 'file-type';
import { wrongType } from './rules.ts';

const HEAD_BYTES = 4096;
const SVG = 'image/svg+xml';

/** Types that a sniffer cannot distinguish form one family: aliases of a format, and containers for both audio and video. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  jpeg: ['image/jpeg', 'image/jpg', 'image/pjpeg'],
  png: ['image/png', 'image/apng', 'image/x-png', 'image/vnd.mozilla.apng'],
  bmp: ['image/bmp', 'image/x-bmp', 'image/x-ms-bmp'],
  icon: ['image/x-icon', 'image/vnd.microsoft.icon'],
  heif: ['image/heic', 'image/heif', 'image/heic-sequence', 'image/heif-sequence'],
  mpegAudio: ['audio/mpeg', 'audio/mp3', 'audio/mpeg3', 'audio/x-mp3', 'audio/x-mpeg', 'audio/x-mpeg-3'],
  wave: ['audio/wav', 'audio/wave', 'audio/x-wav', 'audio/vnd.wave'],
  flac: ['audio/flac', 'audio/x-flac'],
  aiff: ['audio/aiff', 'audio/x-aiff'],
  aac: ['audio/aac', 'audio/aacp', 'audio/x-aac'],
  midi: ['audio/midi', 'audio/mid', 'audio/x-midi'],
  ogg: ['audio/ogg', 'video/ogg', 'application/ogg', 'audio/opus', 'audio/vorbis', 'audio/x-ogg'],
  isoMedia: [
    ...['video/mp4', 'audio/mp4', 'audio/m4a', 'audio/x-m4a', 'audio/m4b', 'audio/x-m4b', 'video/m4v', 'video/x-m4v'],
    ...['video/quicktime', 'video/3gpp', 'audio/3gpp', 'video/3gpp2', 'audio/3gpp2'],
  ],
  matroska: ['video/webm', 'audio/webm', 'video/matroska', 'video/x-matroska', 'audio/matroska', 'audio/x-matroska'],
  avi: ['video/avi', 'video/msvideo', 'video/x-msvideo', 'video/vnd.avi'],
  asf: ['video/x-ms-asf', 'video/x-ms-wmv', 'audio/x-ms-wma', 'audio/x-ms-asf', 'application/vnd.ms-asf'],
  mpegVideo: ['video/mpeg', 'video/mp1s', 'video/mp2p', 'video/mp2t'],
};
const familyOf = new Map(Object.entries(FAMILIES).flatMap(([family, types]) => types.map((type) => [type, family] as const)));

/** Control characters that occur in text: tab, line feed, form feed, carriage return, and escape in terminal output. */
const TEXT_CONTROLS = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);
const isBinary = Uint8Array.from({ length: 256 }, (_, byte) => (byte < 0x20 && !TEXT_CONTROLS.has(byte) ? 1 : 0));

/** Receives a file chunk by chunk, then decides whether it matches its type. */
export class FileTypeCheck {
  readonly #type: string;
  readonly #isText: boolean;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  #foundBinary = false;

  /** `type` as `requireBlobType` answers it. */
  constructor(type: string) {
    this.#type = type;
    this.#isText = type.startsWith('text/') || type === SVG;
  }

  /** Copies what it needs, so the caller may reuse `chunk`. */
  write(chunk: Uint8Array): void {
    if (this.#headBytes < HEAD_BYTES) {
      const part = chunk.subarray(0, HEAD_BYTES - this.#headBytes);
      this.#head.set(part, this.#headBytes);
      this.#headBytes += part.length;
    }
    if (!this.#isText || this.#foundBinary || this.#isUtf16) return;
    for (const byte of chunk) {
      if (isBinary[byte] === 1) {
        this.#foundBinary = true;
        return;
      }
    }
  }

  /** `path` holds the whole file. Throws INVALID_MIME_TYPE. */
  async finish(path: string): Promise<void> {
    if (this.#isText) {
      if (this.#foundBinary) throw wrongType(`The file contains binary data, so it is not of type ${this.#type}.`);
      if (this.#type === SVG && !/<svg[\s>]/.test(this.#headText))
        throw wrongType('The file has no <svg> element, so it is not of type image/svg+xml.');
      return;
    }
    const found = (await fileTypeFromFile(path))?.mime.toLowerCase();
    if (found === undefined) throw wrongType(`The format of the file is not recognised, so it is not of type ${this.#type}.`);
    const [wanted, actual] = [familyOf.get(this.#type) ?? this.#type, familyOf.get(found) ?? found];
    if (wanted !== actual) throw wrongType(`The file is of type ${found}, not ${this.#type}.`);
  }

  /** UTF-16 text is exempt from the check for binary data: up to half of its bytes are zero. */
  get #isUtf16(): boolean {
    const [first, second] = this.#head;
    return this.#type !== SVG && ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff));
  }

  get #headText(): string {
    return this.#head.toString('latin1', 0, this.#headBytes);
  }
}
