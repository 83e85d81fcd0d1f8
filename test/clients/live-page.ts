/** The page SDK in Node with sockets to a real service. Pauses between attempts are shortened; those that detect dead connections are not. */
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import * as Y from 'yjs';
import type { Easel, EaselOptions, SharedDoc } from '../../src/clients/page/api.ts';
import type { PageSurroundings } from '../../src/clients/page/browser.ts';
import type { PageSocket } from '../../src/clients/page/connection.ts';
import { createEasel } from '../../src/clients/page/sdk.ts';
import * as sharedDocs from '../../src/clients/page/shared-docs.ts';
import { waitFor } from '../../src/clients/sdk/wait.ts';

export type Doc = SharedDoc<typeof Y>;

export interface LivePage {
  readonly easel: Easel;
  readonly sockets: WebSocket[];
  /** The browser's storage. */
  readonly kept: Map<string, string>;
  doc(name: string): Promise<Doc>;
  /** Cuts the open connections. */
  cut(): void;
  /** Cuts the connections and delays new ones until the returned function is called. */
  away(): () => void;
}

const WATCH_MS = 10_000;

export function livePage(site: EaselOptions, around: Partial<PageSurroundings> = {}): LivePage {
  const sockets: WebSocket[] = [];
  const kept = new Map<string, string>();
  const over = new AbortController();
  let here = Promise.resolve();
  const easel = createEasel(site, {
    fetch,
    wait: async (ms, signal) => {
      const either = AbortSignal.any([over.signal, ...(signal === undefined ? [] : [signal])]);
      if (ms >= WATCH_MS) return waitFor(ms, either);
      await waitFor(10, either);
      return here;
    },
    random: Math.random,
    openStream: undefined,
    openSocket: (url) => {
      const socket = new WebSocket(url.replace(/^http/, 'ws'));
      // A close event follows.
      socket.on('error', () => undefined);
      sockets.push(socket);
      return socket as PageSocket;
    },
    loadSharedDocs: async () => sharedDocs,
    loadYjs: async () => Y,
    onWake: () => undefined,
    onSleep: () => undefined,
    kept: (name) => kept.get(name) ?? null,
    keep: (name, text) => void (text === undefined ? kept.delete(name) : kept.set(name, text)),
    ...around,
  });
  const docs = new Set<Doc>();
  const cut = () => {
    for (const socket of sockets) socket.terminate();
  };
  onTestFinished(() => {
    for (const doc of docs) doc.destroy();
    cut();
    over.abort();
  });
  return {
    easel,
    sockets,
    kept,
    cut,
    away: () => {
      let back: () => void = () => undefined;
      here = new Promise((resolve) => {
        back = resolve;
      });
      cut();
      return back;
    },
    doc: async (name) => {
      const doc = await easel.doc<typeof Y>(name);
      docs.add(doc);
      return doc;
    },
  };
}

/** Checks the condition after every event of the document. */
export function docUntil(doc: Doc, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!holds()) return;
      for (const stop of stops) stop();
      doc.doc.off('update', look);
      doc.awareness.off('change', look);
      resolve();
    };
    const stops = [doc.on('state', look), doc.on('unsaved', look), doc.on('readOnly', look), doc.on('error', look)];
    doc.doc.on('update', look);
    doc.awareness.on('change', look);
    look();
  });
}
