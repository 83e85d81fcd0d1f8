/** Loads uWebSockets.js, a native addon. Where it has no binary that fits, the error says in one sentence what to do. */
import { z } from 'zod';

export type Addon = typeof import('uWebSockets.js');

/** Bytes of a request's head that the parser accepts. By default the binaries for Node 22 and newer refuse more than 4 KB. */
const HEAD_BYTES_MAX = 16 * 1024;

/** The addon has no binary for this Node version or system. */
export class AddonUnusable extends Error {
  override readonly name = 'AddonUnusable';
}

/** Throws `AddonUnusable`. */
export async function loadAddon(): Promise<Addon> {
  // The import is dynamic, because the addon reads this variable once, when it loads.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(HEAD_BYTES_MAX);
  try {
    return (await import('uWebSockets.js')).default;
  } catch (error) {
    throw new AddonUnusable(sentence(error), { cause: error });
  }
}

function sentence(error: unknown): string {
  const glibc = glibcVersion();
  const system = `${process.platform} ${process.arch}${glibc === undefined ? '' : `, glibc ${glibc}`}`;
  const fitting =
    'use Node 24 (or 22 or 25) where glibc is 2.38 or newer, as on Debian 13 and Ubuntu 24.04, or Node 20 where it is 2.27 or newer';
  return `Node ${process.version} cannot load the HTTP server uWebSockets.js on this system (${system}): ${fitting}.${unexpected(error)}`;
}

/** The loader's own message, unless it only says that the binary is missing or needs a newer glibc. */
function unexpected(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/GLIBC|Cannot find module/.test(text)) return '';
  return ` The loader says: ${text.split('\n').at(-1)}`;
}

const reportHeader = z.object({ header: z.object({ glibcVersionRuntime: z.string().optional() }) });

function glibcVersion(): string | undefined {
  const { report } = process;
  // Without this flag the report looks up the host names of all connections.
  Object.assign(report, { excludeNetwork: true });
  const parsed = reportHeader.safeParse(report.getReport());
  return parsed.success ? parsed.data.header.glibcVersionRuntime : undefined;
}
