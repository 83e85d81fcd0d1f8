/** What a page's agent knows of the rows of tables and datasets. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { StoredDataset } from '../../../../src/features/data/datasets/rows.ts';
import { Fitting } from '../../../../src/features/library/ask/fitting.ts';
import { PageData } from '../../../../src/features/library/ask/page-data.ts';
import { RowPicker } from '../../../../src/features/library/ask/row-picker.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published } from '../../../support/requests.ts';
import { indexed, plainTerm } from '../search/search-stage.ts';
import { FakeModel } from './fake-model.ts';

const PAGE =
  '<!doctype html><title>Shop</title><p>Orders of customers are packed daily.</p><h2>Returns</h2><p>Orders of customers come back.</p>';
const MORE = '<h2>Late</h2><p>Customers ask for orders.</p><h2>Lost</h2><p>Some orders of customers are lost.</p>';

interface Stage {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly page: string;
}

async function stageWith(settings: Readonly<Record<string, string>>): Promise<Stage> {
  const easel = await startTestEasel({ settings });
  const owner = await easel.newUser();
  const { id: page } = await published(easel, owner, { files: [{ path: 'index.html', content: PAGE + MORE }] });
  await indexed(easel);
  return { easel, owner, page };
}

async function write({ easel, owner, page }: Stage, path: string, init: RequestInit): Promise<void> {
  const reply = await easel.fetch(`/v1/data/${page}${path}`, { token: owner.token, ...init });
  expect([200, 201]).toContain(reply.status);
}

const rowsTo = (stage: Stage, table: string, rows: readonly object[]) => write(stage, `/tables/${table}`, post([...rows]));
const dataset = (stage: Stage, name: string, lines: readonly string[]) =>
  write(stage, `/datasets/${name}`, { method: 'PUT', body: lines.join('\n'), headers: { 'content-type': 'text/csv' } });

const asked = (text: string) => [{ role: 'user', text }];

async function ask({ easel, owner, page }: Stage, question: string, history?: readonly object[], token: string | undefined = owner.token) {
  const reply = await easel.fetch(`/v1/data/${page}/agent`, { ...(token !== '' && { token }), ...post({ question, history }) });
  expect(reply.status).toBe(200);
  return (await json(reply)).data as { readonly answer: string; readonly citations: readonly { readonly quote: string }[] };
}

describe('rows, with a model', () => {
  const model = new FakeModel();
  let stage: Stage;
  beforeAll(async () => {
    stage = await stageWith({ ASK_BASE_URL: await model.listen(), ASK_MODEL: 'small' });
    model.behaviour = { pieces: ['So it is [1].'] };
    const late = Array.from({ length: 700 }, (_, at) => ({ customer: `Late${at}`, total: 1000 + at }));
    for (const at of [0, 350]) await rowsTo(stage, 'late', late.slice(at, at + 350));
    await dataset(stage, 'revenue_by_city', ['city,revenue', 'Berlin,10', 'Málaga,20']);
    const filler = 'x'.repeat(60);
    await dataset(stage, 'parcels', ['parcel,place,note', ...Array.from({ length: 6000 }, (_, at) => `P${at},Shelf${at},${filler}`)]);
  });
  afterAll(async () => {
    await stage?.easel.close();
    model.close();
  });

  async function told(question: string, history?: readonly object[], token?: string): Promise<string> {
    await ask(stage, question, history, token);
    return model.calls.at(-1)?.body.messages.at(-1)?.content.replaceAll('\\"', '"') ?? '';
  }

  it('has the row of a dataset that is asked for, whatever its case and accents', async () => {
    expect(await told('revenue of berlin?')).toContain('{"city":"Berlin","revenue":10}');
    expect(await told('Revenue of malaga?')).toContain('{"city":"Málaga","revenue":20}');
  });

  it('has a row behind the first page of a table and behind the first block of a dataset, and a few of the first', async () => {
    const text = await told('What is the total of Late650?');
    expect(text).toContain('Rows with words of the question: {"total": 1650, "customer": "Late650"}');
    expect(text).toContain('"Late4"');
    expect(text).not.toContain('"Late5"');
    expect(await told('Where is parcel P5900?')).toContain('"place":"Shelf5900"');
  });

  it('has the rows that the question before is about, behind those of its own', async () => {
    const text = await told('And which total has Late650?', asked('Where is parcel P5900?'));
    expect(text.indexOf('Late650')).toBeGreaterThan(0);
    expect(text.indexOf('Shelf5900')).toBeGreaterThan(text.indexOf('Late650'));
  });

  it('has what is small enough of a large row', async () => {
    await rowsTo(stage, 'letters', [{ text: `${'lorem ipsum '.repeat(4000)}the sphinx sleeps ${'lorem ipsum '.repeat(4000)}` }]);
    const text = await told('Where does the sphinx sleep?');
    expect(text).toContain('the sphinx sleeps');
    expect(text.length).toBeLessThan(LIMITS.askPassagesMax * 2 * (LIMITS.agentRowsCharsMax + 1000));
  });

  it('looks through so many bytes of them and no more, and ends with its caller', async () => {
    const block = Array.from({ length: 1000 }, (_, at) => `{"n":${at},"text":"${'y'.repeat(1000)}"}`);
    const calling = new AbortController();
    let blocks = 0;
    async function* endless() {
      for (;;) {
        blocks += 1;
        yield block;
      }
    }
    const find = async () => ({ rows: 1_000_000, columns: [] }) as unknown as StoredDataset;
    const tables = { run: () => Promise.reject(new Failure('QUERY_TOO_EXPENSIVE')) };
    const data = new PageData({ sql: stage.easel.sql, tables, datasets: { find, blocks: endless } });
    const questions = { own: await Fitting.of(stage.easel.sql, 'zebras?'), earlier: undefined };
    const sought = { artifactId: stage.page as ArtifactId, questions, holders: { artifact: stage.page }, ended: calling.signal };
    const pieces = await data.find(sought);
    // Of two datasets each may end with a block that goes beyond its share.
    const bytes = blocks * Buffer.byteLength(block.join(''));
    expect(bytes).toBeGreaterThanOrEqual(LIMITS.agentScanBytesMax);
    expect(bytes).toBeLessThan(LIMITS.agentScanBytesMax + 2 * Buffer.byteLength(block.join('')));
    expect(pieces.at(-1)?.text).toMatch(/^Dataset .* Only the first \d000 rows were looked through\. First rows: /);
    calling.abort(new Error('left'));
    await expect(data.find(sought)).rejects.toThrow('left');
  });

  it('has for a visitor what the reads of rows show to one', async () => {
    await stage.easel.sql`update artifact set visibility = 'public' where id = ${stage.page}`;
    await stage.easel.fetch(`/v1/artifacts/${stage.page}`, { token: stage.owner.token, ...patch({ allow_anon_agent: true }) });
    const rows = await stage.easel.fetch(`/v1/data/${stage.page}/datasets/revenue_by_city/rows`);
    expect(rows.status).toBe(200);
    expect(await told('revenue of berlin?', undefined, '')).toContain('"Berlin"');
  });
});

describe('rows, without a model', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await stageWith({});
    await rowsTo(stage, 'invoices', [{ customer: 'Ana', total: 3 }]);
  });
  afterAll(() => stage?.easel.close());

  it('stand before passages of the page that fit less', async () => {
    const { citations } = await ask(stage, 'Which orders of customers are in the table invoices?');
    expect(citations).toHaveLength(LIMITS.askShownMax);
    expect(citations[0]?.quote).toContain('Table invoices with 1 rows. First rows: {"total": 3, "customer": "Ana"}');
    expect(citations[1]?.quote).not.toContain('Table');
  });

  it('stand behind passages that fit more, and behind them where they fit the question before alone', async () => {
    const { citations } = await ask(stage, 'Which orders of customers are lost?', asked('What does Ana pay?'));
    expect(citations[0]?.quote).toBe('Some orders of customers are lost.');
    const quotes = (await ask(stage, 'Which were lost?', asked('What is the total of Ana?'))).citations.map(({ quote }) => quote);
    expect(quotes[0]).toBe('Some orders of customers are lost.');
    expect(quotes[1]).toContain('Ana');
  });

  it('are not shown where nothing fits', async () => {
    const nothing = { answer: 'No page that you may open says anything about this.', citations: [], mode: 'extractive' };
    expect(await ask(stage, 'Who photographed zebras?')).toEqual(nothing);
    expect(await ask(stage, 'Who photographed the first rows?')).toEqual(nothing);
  });
});

test('of many rows it keeps the first and those with most words, by what they say and not by the names of their fields', () => {
  const picker = new RowPicker({ own: new Fitting(['price', 'red', 'fox'].map(plainTerm)), earlier: undefined });
  const rows = Array.from({ length: 1000 }, (_, at) =>
    JSON.stringify({ price: at, 'red "fox"': 'grey', text: at % 100 === 99 ? 'red' : 'blue' }),
  );
  for (const row of [...rows, '{"text":"a\\nfox that is red"}']) picker.add(row);
  const { fitting, first } = picker.picked();
  expect(fitting).toEqual(['{"text":"a\\nfox that is red"}', ...[99, 199, 299, 399, 499, 599, 699].map((at) => rows[at])]);
  expect(first).toEqual(rows.slice(0, LIMITS.agentFirstRowsMax));
});
