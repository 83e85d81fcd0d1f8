/** What the tests of others' failures share: people at one document, and a store that stands still. */
import postgres from 'postgres';
import { onTestFinished } from 'vitest';
import type { ArtifactId } from '../../../protocol/ids.ts';
import type { Sql } from '../../../src/storage/sql.ts';
import { type Client, join, type ProviderKind } from '../../realtime/providers.ts';
import { stage } from '../../realtime/stage.ts';
import type { TestEasel } from '../../support/easel.ts';

export interface Desk {
  readonly easel: TestEasel;
  readonly artifactId: ArtifactId;
  readonly token: string;
  /** Somebody who has a document open; closed with the test. */
  sit(kind?: ProviderKind, document?: string): Client;
}

/** An artifact of its own, for one test. */
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

/** Nothing is written to documents from when it resolves until the returned function is called, which waits for the end of that. */
export async function pauseStore(sql: Sql): Promise<() => Promise<void>> {
  let resume: () => void = () => undefined;
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  return new Promise((paused, failed) => {
    const ended = sql.begin(async (tx) => {
      // Reads go on.
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

/** For a database that a program of its own works on. */
export function openSql(url: string): Sql {
  return postgres(url, { max: 2, onnotice: () => undefined, connection: { application_name: 'test' } }) as unknown as Sql;
}

/** How often a piece is in a text. */
export function times(text: string, piece: string): number {
  return text.split(piece).length - 1;
}

export async function synced(...clients: readonly Client[]): Promise<void> {
  await Promise.all(clients.map((client) => client.until(({ isSynced }) => isSynced)));
}
