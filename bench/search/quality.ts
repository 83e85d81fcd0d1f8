/** How often the right page is among the first five, for the 300 queries of the quality set. */
import type postgres from 'postgres';
import type { Findings } from '../report/report.ts';
import { atLeast, rounded } from '../report/statistics.ts';
import { newAccount } from '../servers/calls.ts';
import { EASEL } from '../servers/peer-process.ts';
import type { Server } from '../servers/processes.ts';
import type { Page } from './corpus.ts';
import { byIlike, ILIKE, Library, MINISEARCH } from './peers.ts';
import { QUALITY_SET } from './quality-set.ts';
import { searched } from './search-stage.ts';
import { addMember } from './seeding.ts';

interface QualityPlan {
  readonly easel: Server;
  readonly sql: postgres.Sql;
  readonly documents: readonly Page[];
  /** The workspace that has the documents. */
  readonly workspace: number;
}

/** Searches of one person a minute are limited. */
const PERSONS = 8;
const ALONE = EASEL;
const AMONG_ALL = `${EASEL}, among all`;

export async function quality({ easel, sql, documents, workspace }: QualityPlan, findings: Findings): Promise<void> {
  const tokens: string[] = [];
  for (let at = 0; at < PERSONS; at += 1) {
    const { token, userId } = await newAccount(easel);
    await addMember(sql, userId, workspace);
    tokens.push(token);
  }
  const library = new Library(documents);
  const workspaceId = `wsp_${String(workspace).padStart(24, '0')}`;
  const byEasel = (more: string) => async (q: string, at: number) =>
    (await searched(easel, { token: tokens[at % PERSONS] ?? '' }, q, `&groups=artifacts&limit=5${more}`)).map(({ title }) => title);
  const ways: Record<string, (q: string, at: number) => Promise<readonly string[]>> = {
    [ALONE]: byEasel(`&workspace=${workspaceId}`),
    [AMONG_ALL]: byEasel(''),
    [MINISEARCH]: async (q) => library.find(q),
    [ILIKE]: (q) => byIlike(sql, q, workspaceId, false),
  };
  const typed = QUALITY_SET.flatMap(({ name, queries }) => queries.map((text) => ({ name, text })));
  const rows: string[][] = [];
  for (const [way, find] of Object.entries(ways)) {
    let right = 0;
    for (const [at, { name, text }] of typed.entries()) if ((await find(text, at)).includes(name)) right += 1;
    const percent = (100 * right) / typed.length;
    rows.push([way, `${rounded(percent)} %`]);
    if (way === ALONE) findings.verdicts.push(atLeast('Right page among the first five, by the quality set', percent, 95, '%'));
    findings.rounds[`quality of ${way}`] = { right, of: typed.length };
  }
  findings.tables.push({
    title: 'The right page is among the first five',
    columns: ['What', `Of ${typed.length} queries`],
    rows,
    notes: [
      `${documents.length} pages of documentation; about half of the queries are misspelt. Where nothing else is said they are searched alone. Among all: with every page that the person may open, one of ten of all workspaces, of which many say the same, because they are made of the same documentation.`,
    ],
  });
}
