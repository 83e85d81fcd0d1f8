import { describe, expect, it } from 'vitest';
import { Converter } from '../../../../src/features/library/imports/convert/converter.ts';
import { services } from '../../../support/services.ts';
import { documentOf, picturesOf, workbookOf } from './office-files.ts';

const bounds = { unpackedBytesMax: 1e6, cellsMax: 1000, sheetsMax: 10, htmlBytesMax: 1000, rowsBytesMax: 1000 };
const { signal } = new AbortController();

describe('what a conversion makes is bounded', () => {
  const converter = new Converter(services(), bounds);
  const refusedBy = (message: string) => ({ kind: 'refused', message: expect.stringContaining(message) });

  it('in HTML', async () => {
    expect(await converter.convert('document', documentOf('short'), signal)).toMatchObject({ kind: 'document' });
    expect(await converter.convert('document', documentOf('long'.repeat(250)), signal)).toEqual(refusedBy('more than 1000 bytes'));
  });

  it('in pictures, which a document shows as often as it likes', async () => {
    const picture = new Uint8Array(150);
    const shown = await converter.convert('document', picturesOf(picture, 2), signal);
    expect(shown.kind === 'document' && shown.html.split('data:image/png;base64,').length - 1).toBe(2);
    expect(await converter.convert('document', picturesOf(picture, 10), signal)).toEqual(refusedBy('more than 1000 bytes'));
  });

  it('in rows, each of which has the names of all columns', async () => {
    const rows = (count: number) => [['n'.repeat(90), 'm'], ...Array.from({ length: count }, (_, n) => [n, n])];
    expect(await converter.convert('workbook', workbookOf(rows(5)), signal)).toMatchObject({ kind: 'workbook', sheets: [{ rows: 5 }] });
    expect(await converter.convert('workbook', workbookOf(rows(20)), signal)).toEqual(refusedBy('more than 1000 bytes'));
  });
});
