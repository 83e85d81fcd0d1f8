/** Reads what a version's pages say, as much as is indexed, in slices between which others run. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { loopTurns } from '../../../platform/loop-turns.ts';
import type { ServiceDeps } from '../../deps.ts';
import type { PageFile } from './index-rows.ts';
import { HtmlText, LinesText, type TextReader } from './page-text.ts';
import { type Piece, piecesOf } from './passages-of.ts';

const LANE = 'search';
const SLICE_CHARS = 32 * 1024;

export interface Read {
  readonly titles: readonly string[];
  readonly pieces: readonly Piece[];
}

type Deps = Pick<ServiceDeps, 'objects'>;

/** `files`: of one version, in the order in which they count. */
export async function readPages(deps: Deps, files: readonly PageFile[], signal: AbortSignal): Promise<Read> {
  const titles: string[] = [];
  const pieces: Piece[] = [];
  let chars = LIMITS.searchedCharsMax;
  for (const file of files) {
    if (chars <= 0) break;
    const text = await readFile(deps, file, chars, signal);
    titles.push(...text.titles);
    const found = piecesOf(file.path, text);
    pieces.push(...found);
    chars -= found.reduce((sum, piece) => sum + piece.text.length + (piece.heading?.length ?? 0), 0);
  }
  return { titles, pieces };
}

async function readFile({ objects }: Deps, file: PageFile, charsMax: number, signal: AbortSignal) {
  const reader = readerFor(file, charsMax);
  const decoder = new TextDecoder();
  const bytesMax = Math.min(file.sizeBytes, LIMITS.searchedFileBytesMax);
  for await (const chunk of objects.readRange(file.sha256, 0, bytesMax - 1)) {
    await writeInSlices(reader, decoder.decode(chunk, { stream: true }), signal);
    if (reader.isFull) break;
  }
  return reader.end();
}

async function writeInSlices(reader: TextReader, text: string, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < text.length && !reader.isFull; at += SLICE_CHARS) {
    await loopTurns.next(LANE);
    signal.throwIfAborted();
    reader.write(text.slice(at, at + SLICE_CHARS));
  }
}

function readerFor({ path, mime }: PageFile, charsMax: number): TextReader {
  if (/^(?:text\/html|application\/xhtml)/.test(mime) || /\.html?$/.test(path)) return new HtmlText(charsMax);
  return new LinesText(charsMax, mime.startsWith('text/markdown') || /\.(?:md|markdown)$/.test(path));
}
