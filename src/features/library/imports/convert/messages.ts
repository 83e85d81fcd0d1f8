/** What the service and the thread that converts say to each other. */

export interface ConvertBounds {
  readonly unpackedBytesMax: number;
  readonly cellsMax: number;
  readonly sheetsMax: number;
  /** Of what is made of a document. */
  readonly htmlBytesMax: number;
  /** Of the rows of all sheets. */
  readonly rowsBytesMax: number;
}

/** One file: a thread converts one and ends. */
export interface ConvertTask extends ConvertBounds {
  readonly kind: 'document' | 'workbook';
  readonly bytes: Uint8Array;
}

export interface ConvertedSheet {
  readonly name: string;
  /** Its rows after the first, which names the columns. */
  readonly ndjson: Uint8Array;
  readonly rows: number;
  /** The first rows, for people. */
  readonly preview: readonly (readonly string[])[];
}

export type Converted =
  | { readonly kind: 'document'; readonly html: string }
  | { readonly kind: 'workbook'; readonly sheets: readonly ConvertedSheet[] }
  | { readonly kind: 'refused'; readonly message: string };
