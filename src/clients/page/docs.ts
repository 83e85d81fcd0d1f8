/** `easel.doc`: loads Yjs and the document code when a document is first opened. */
import type * as api from './api.ts';
import type { Connection, ConnectionUser } from './connection.ts';
import { EaselError } from './errors.ts';
import type * as SharedDocs from './shared-docs.ts';

export interface DocSurroundings {
  /** Imports /sdk-doc.mjs from the same server. */
  readonly loadSharedDocs: () => Promise<Pick<typeof SharedDocs, 'openRoom'>>;
  /** Imports `yjs` through the page's import map, else /sdk-yjs.mjs from the same server. */
  readonly loadYjs: () => Promise<api.YjsModule>;
}

export interface DocsDeps {
  readonly around: DocSurroundings;
  readonly connect: (user: ConnectionUser) => Connection;
  readonly token: () => string | undefined;
  readonly became: (state: api.ConnectionState) => void;
  readonly failed: (error: EaselError) => void;
}

export function docsOf({ around, ...deps }: DocsDeps): api.Easel['doc'] {
  let room: SharedDocs.DocRoom | undefined;
  return async (name, { Y, doc } = {}) => {
    // Checked here, because the server does not answer for an invalid name.
    if (!/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/.test(name)) {
      const hint = 'Use a letter and then at most 63 letters, digits, underscores and hyphens.';
      throw new EaselError({ code: 'INVALID_DOCUMENT_NAME', status: 0, message: `"${name}" is not a valid document name.`, hint });
    }
    try {
      const [{ openRoom }, yjs] = await Promise.all([around.loadSharedDocs(), Y ?? around.loadYjs()]);
      room ??= openRoom({ ...deps, EaselError });
      return room.join(name, yjs as NonNullable<typeof Y>, doc);
    } catch (error) {
      if (error instanceof EaselError) throw error;
      throw new EaselError({ code: 'NETWORK_ERROR', status: 0, message: 'The scripts for shared documents could not be loaded.' }, error);
    }
  };
}
