/** The loop that sends a file in pieces, against a connection of which a test says when it is cut. */
import { expect, test } from 'vitest';
import { sendInPieces, type Upload } from '../../src/clients/sdk/pieces.ts';

test('a connection that is cut with every piece brings the file as long as each brings something, and is given up once none does', async () => {
  const sizeBytes = 40;
  let arrived = 0;
  let bringsBytes = true;
  const state = (): Upload => ({
    ...{ id: 'upl_1', offset: arrived, pieceBytesMax: sizeBytes },
    file: arrived === sizeBytes ? { id: 'blob_1', filename: 'a.txt' } : null,
  });
  const calls = {
    begin: async () => state(),
    get: async () => state(),
    async send(): Promise<Upload> {
      if (bringsBytes) arrived += 1;
      throw new Error('cut');
    },
    isPassing: () => true,
    wait: async () => undefined,
  };
  expect(await sendInPieces(sizeBytes, calls, () => undefined)).toMatchObject({ id: 'blob_1' });
  arrived = 0;
  bringsBytes = false;
  await expect(sendInPieces(sizeBytes, calls, () => undefined)).rejects.toThrow('cut');
});
