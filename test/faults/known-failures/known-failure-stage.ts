/** Shared by the tests of failures known from other services: clients of one document, and a store whose writes block. */
import postgres from 'postgres';
import { onTestFinished } from 'vitest';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { Sql } from '../../../src/storage/sql.ts';
import { type Client, join, type ProviderKind } from '../../realtime/providers.ts';
import { stage } from '../../realtime/realtime-stage.ts';
import type { TestEasel } from '../../support/easel.ts';

export interface Desk {
  readonly easel: TestEasel;
  readonly artifactId: ArtifactId;
  readonly token: string;
  /** Connects a client to a document; it is closed with the test. */
  sit(kind?: ProviderKind, document?: string): Client;
}

/** Creates an artifact for one test. */
export async function setDesk(easel: TestEasel): Promise<Desk> {
  const { artifactId, owner } = await stage(easel);
  return {
    easel,
    artifactId: artifactId as ArtifactId,
    token: owner.token,
    sit: (kind = 'hocuspocus 4', document = 'notes') => {
      const client = join(kind, { baseUrl: easel.baseUrl, artifactId, document, token: owner.token });
      onTestFinished(() => client.close());
      return client;
    },
  };
}

/** Blocks writes of documents until the returned function is called, which resolves when they are possible again. */
export async function pauseStore(sql: Sql): Promise<() => Promise<void>> {
  let resume: () => void = () => undefined;
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  return new Promise((paused, failed) => {
    const ended = sql.begin(async (tx) => {
      // This lock mode lets reads pass.
      await tx`lock table document_update in exclusive mode`;
      paused(async () => {
        resume();
        await ended;
      });
      await resumed;
    });
    ended.catch(failed);
  });
}

/** Connects to the database of a program that runs as its own process. */
export function openSql(url: string): Sql {
  return postgres(url, { max: 2, onnotice: () => undefined, connection: { application_name: 'test' } }) as unknown as Sql;
}

/** Counts the occurrences of a piece in a text. */
export function times(text: string, piece: string): number {
  return text.split(piece).length - 1;
}

export async function synced(...clients: readonly Client[]): Promise<void> {
  await Promise.all(clients.map((client) => client.until(({ isSynced }) => isSynced)));
}
