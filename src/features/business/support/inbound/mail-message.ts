/** What the thread that parses mail is given and answers. */
import type { CutMail } from '../quoting.ts';

export interface ParseTask {
  readonly bytes: Uint8Array;
  readonly bounds: {
    readonly headerBytesMax: number;
    readonly partsMax: number;
    readonly attachmentsMax: number;
    readonly attachmentBytesMax: number;
    readonly referencesMax: number;
    readonly textCharsMax: number;
  };
}

export interface MailFile {
  readonly filename: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** Lowercase hex. */
  readonly sha256: string;
}

export interface ParsedMail {
  readonly kind: 'mail';
  /** Of all its bytes, lowercase hex. */
  readonly sha256: string;
  /** With angle brackets; null where there is none. */
  readonly messageId: string | null;
  /** What it answers: References and In-Reply-To, the latest last. */
  readonly references: readonly string[];
  /** The address in lowercase. Null where there is not exactly one. */
  readonly from: { readonly name: string; readonly address: string } | null;
  /** Addresses in lowercase that it was sent to, those of headers that mail servers add included. */
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** The text, and what of it is quoted. */
  readonly cut: CutMail;
  /** The headers by which programs say that nobody has written it, by their lowercase names. */
  readonly marks: Readonly<Record<string, string>>;
  readonly files: readonly MailFile[];
  /** Names of files that are too large or too many. */
  readonly leftOut: readonly string[];
}

export interface RefusedMail {
  readonly kind: 'refused';
  readonly message: string;
}
