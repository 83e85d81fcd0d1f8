/** The pages `/status` and `/limits`. */
import type { z } from 'zod';
import type { serviceStatus } from '../../../../protocol/business/terms.ts';
import { type Html, html } from '../../../edge/html.ts';
import { framedPage, timeText } from '../../../edge/page-frame.ts';
import { planTable, rateTable, retentionTable, type WordTable } from './tables.ts';

type Status = z.output<typeof serviceStatus>;
type Part = Status['parts'][number];

const PARTS: Readonly<Record<Part['name'], string>> = {
  api: 'Pages and the interface for programs',
  database: 'Database',
  files: 'Files of pages',
  nodes: 'Work between the nodes',
  mail: 'Mail',
  jobs: 'Jobs',
  search: 'Search: what was just published is found',
  imports: 'File imports',
};

const STATES: Readonly<Record<Part['state'], string>> = {
  up: 'Works',
  delayed: 'Delayed',
  down: 'Does not work',
  unknown: 'Not known now',
};

const OVERALL: Readonly<Record<Status['status'], readonly [kind: 'good' | 'bad', words: string]>> = {
  up: ['good', 'Everything works.'],
  degraded: ['bad', 'Some parts are delayed or do not work. What is stored is safe.'],
  down: ['bad', 'The service cannot serve everything now. What was answered as stored is safe.'],
};

export function statusPage({ status, checked_at, parts }: Status): string {
  const [kind, words] = OVERALL[status];
  return framedPage(
    { title: 'Status', wide: true },
    html`<h1>Status</h1>
<p class="notice ${kind}" role="status">${words}</p>
<ul class="list">
${parts.map(partItem)}</ul>
<p class="soft small">Looked at ${timeText(checked_at)}; this page is at most some seconds old. Programs get the same as JSON. <a href="/limits">Limits and retention</a></p>`,
  );
}

function partItem({ name, state, since }: Part): Html {
  return html`<li><span>${PARTS[name]}</span><span class="state ${state}">${STATES[state]}${since !== undefined && html`, since ${timeText(since)}`}</span></li>\n`;
}

export function limitsPage(): string {
  return framedPage(
    { title: 'Limits', wide: true },
    html`<h1>Limits and retention</h1>
<p>An account has the allowance of its plan; what belongs to a workspace has that of the plan of the workspace. A smaller plan takes nothing away that is there: it stops what is new. <a href="/status">Status</a> · <a href="/docs">Reference</a></p>
${[planTable(), rateTable(), retentionTable()].map(tableOf)}`,
  );
}

function tableOf({ title, heads, rows }: WordTable): Html {
  return html`<h2>${title}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map(([what = '', ...cells]) => html`<tr><th scope="row">${wordsOf(what)}</th>${cells.map((cell) => html`<td>${wordsOf(cell)}</td>`)}</tr>\n`)}</tbody>
</table></div>
`;
}

/** Names stand between back ticks, as the README has them. */
function wordsOf(text: string): readonly (Html | string)[] {
  return text.split('`').map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : piece));
}
