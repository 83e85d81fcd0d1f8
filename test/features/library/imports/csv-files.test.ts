/** CSV files as spreadsheets write them: other delimiters than the comma, other encodings than UTF-8. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csvShape } from '../../../../src/features/library/imports/delimiters.ts';
import { decode, encodingOf } from '../../../../src/features/library/imports/encodings.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { FakeDrives } from '../../../support/fake-drives.ts';
import { beginRun, connect, type ImportHome, importHome, runEnded, sourceOf } from '../../../support/import-home.ts';
import { json } from '../../../support/requests.ts';

describe('the delimiter', () => {
  it.each([
    ['a comma', 'a,b\n1,2\n', ','],
    ['a semicolon', 'id;name\n1;a\n', ';'],
    ['a tab', 'a\tb\r\n1\t2\r\n', '\t'],
    ['a pipe', 'a|b\n1|2', '|'],
    ['a comma in a file of one column', 'name\nada\n', ','],
    ['a comma in an empty file', '', ','],
    ['what the first record has most often', 'id;price, EUR;stock\n1;2,50;3\n', ';'],
    ['not what is quoted', '"a;b;c","d ""x;y"" e"\n"1;2;3",4\n', ','],
    ['found past line ends within quotes', '"first\nline";b\n1;2\n', ';'],
    ['found past empty lines', '\r\n\r\na;b\r\n\r\n1;2', ';'],
    ['none where the second record lacks it', 'answer (yes|no)\nyes\n', ','],
    ['a comma where both are as frequent', 'a,b;c\n1,2;3\n', ','],
  ])('is %s', (_, text, delimiter) => {
    expect(csvShape(text)).toEqual({ delimiter, from: 0 });
  });

  it('is the one that a line before the first record names', () => {
    expect(csvShape('sep=;\r\na,b;c\r\n')).toEqual({ delimiter: ';', from: 7 });
  });
});

describe('the encoding', () => {
  const read = (bytes: Buffer) => [encodingOf(bytes), decode(bytes, encodingOf(bytes))];

  it('is told by a byte order mark, else UTF-8 where it is that, else Windows-1252', () => {
    expect(read(Buffer.from('Łódź – 5 €'))).toEqual(['utf-8', 'Łódź – 5 €']);
    expect(read(Buffer.from('\ufeffŁódź'))).toEqual(['utf-8', 'Łódź']);
    expect(read(Buffer.from('\ufeffŁódź', 'utf16le'))).toEqual(['utf-16le', 'Łódź']);
    expect(read(Buffer.from('\ufeffŁódź', 'utf16le').swap16())).toEqual(['utf-16be', 'Łódź']);
    expect(read(Buffer.from('a\u00f1o \u0096 5 \u0080 \u0093Z\u00fcrich\u0094 \u009f', 'latin1'))).toEqual([
      'windows-1252',
      'año – 5 € “Zürich” Ÿ',
    ]);
  });
});

describe('an import', () => {
  let easel: TestEasel;
  let drives: FakeDrives;
  let home: ImportHome;
  beforeAll(async () => {
    drives = await FakeDrives.start();
    easel = await startTestEasel({ settings: drives.settings });
    home = await importHome(easel);
    await connect(easel, home, 'cloud_drive');
  });
  afterAll(async () => {
    await easel.close();
    await drives.close();
  });

  const get = async (path: string) => json(await easel.fetch(path, { token: home.member.token }));

  it('stores the rows that people see in their spreadsheet, and tells where it guessed', async () => {
    drives.folder('plans', 'root', 'Plans');
    drives.file('c1', 'plans', 'semicolons.csv', 'id;name\n1;"a;b"\n');
    drives.file('c2', 'plans', 'tabs.csv', 'id\tname\n1\ta\n');
    drives.file('c3', 'plans', 'windows.csv', Buffer.from('id;ciudad\r\n1;M\u00e1laga \u0096 5 \u0080\r\n', 'latin1'));
    drives.file('c4', 'plans', 'unicode.csv', Buffer.from('\ufeffid\tciudad\r\n1\tŁódź\r\n', 'utf16le'));
    drives.file('c5', 'plans', 'torn.csv', Buffer.from('\ufeffid\tx\r\n1\t\ud800\r\n', 'utf16le'));
    drives.file('c6', 'plans', 'named.csv', 'sep=;\r\nid;name\r\n1;a\r\n');
    const source = await sourceOf(easel, home, 'cloud_drive', { convert: true });
    const run = await runEnded(easel, home, await beginRun(easel, home, source.id));
    expect(run).toMatchObject({ status: 'completed', counts: { found: 6, converted: 6, failed: 0 } });
    expect(run.errors.map(({ path, status, code }: Record<string, string>) => [path, status, code]).sort()).toEqual([
      ['torn.csv', 'converted', 'CONVERSION_FAILED'],
      ['windows.csv', 'converted', 'ENCODING_GUESSED'],
    ]);
    const { artifacts } = await get(`/v1/artifacts?folder_id=${home.folderId}&limit=100`);
    const rows: Record<string, unknown> = {};
    for (const { id, name } of artifacts) rows[name] = (await get(`/v1/data/${id}/datasets/rows/rows`)).data.rows;
    expect(rows).toEqual({
      'semicolons.csv': [{ id: 1, name: 'a;b' }],
      'tabs.csv': [{ id: 1, name: 'a' }],
      'windows.csv': [{ id: 1, ciudad: 'Málaga – 5 €' }],
      'unicode.csv': [{ id: 1, ciudad: 'Łódź' }],
      'torn.csv': [{ id: 1, x: '\ufffd' }],
      'named.csv': [{ id: 1, name: 'a' }],
    });
  });
});
