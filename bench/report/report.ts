/** Prints a suite's figures and saves them in bench/results as Markdown and JSON. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from './statistics.ts';

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
}

export interface SuiteReport {
  readonly suite: string;
  /** The method, one sentence each. */
  readonly method: readonly string[];
  readonly tables: readonly Table[];
  readonly verdicts: readonly Verdict[];
  /** The figures of every round. */
  readonly rounds: unknown;
}

/** What the cases of a suite have found so far. */
export interface Findings {
  readonly tables: Table[];
  readonly verdicts: Verdict[];
  readonly rounds: Record<string, unknown>;
}

export function machine(): Readonly<Record<string, string>> {
  const cores = cpus();
  return {
    date: new Date().toISOString(),
    commit: commit(),
    command: `npm run bench -- ${process.argv.slice(2).join(' ')}`,
    processor: `${cores.length} × ${cores[0]?.model ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    system: `Linux ${release()}, Node ${process.version}`,
    // Shows other load: a quiet machine is near 0 before and near 2 after.
    'load average before': loadText(),
  };
}

/** A warning for the report if the machine was busy before the bench began; empty on a quiet machine. */
export function disturbance(): string[] {
  const [minute = 0] = loadavg();
  const found: string[] = [];
  if (minute >= cpus().length / 2)
    found.push(
      'The machine was busy with other work, so rates, latencies and start times are worse than on a quiet machine. Repeat the run there.',
    );
  if (pagesOut())
    found.push(
      'The system takes what was not read for a while out of memory (DAMON), though most of it is free: what is read again comes from the disk.',
    );
  return found;
}

/** Whether the kernel is told to evict pages before memory is short, as hosts of virtual machines do. */
function pagesOut(): boolean {
  try {
    const folder = '/sys/kernel/mm/damon/admin/kdamonds/0';
    const said = (name: string) => readFileSync(`${folder}/${name}`, 'utf8').trim();
    return said('state') === 'on' && said('contexts/0/schemes/0/action') === 'pageout';
  } catch {
    return false;
  }
}

export function loadText(): string {
  return loadavg()
    .map((load) => load.toFixed(2))
    .join(' ');
}

function commit(): string {
  try {
    const head = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' }).trim();
    const changed = execFileSync('git', ['status', '--porcelain', '--', 'src', 'actors', 'protocol', 'bench', ':!bench/results'], {
      encoding: 'utf8',
    });
    return changed.trim() === '' ? head : `${head} with uncommitted changes`;
  } catch {
    return 'not in a git checkout';
  }
}

export async function publishReport(report: SuiteReport, where: Readonly<Record<string, string>>): Promise<void> {
  const text = markdown(report, where);
  console.log(`\n${text}`);
  const folder = join('bench', 'results');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${report.suite}.md`), text);
  await writeFile(join(folder, `${report.suite}.json`), `${JSON.stringify({ where, ...report }, null, 1)}\n`);
}

function markdown(report: SuiteReport, where: Readonly<Record<string, string>>): string {
  const facts = Object.entries(where).map(([name, value]) => `- ${name}: ${value}`);
  const tables = report.tables.flatMap((table) => [
    '',
    `## ${table.title}`,
    '',
    ...grid([table.columns, ...table.rows]),
    ...noted(table.notes),
  ]);
  const verdicts = report.verdicts.map((verdict) => [
    verdict.what,
    verdict.aim,
    verdict.value,
    verdict.reached ? 'reached' : 'NOT reached',
  ]);
  return [
    `# Bench: ${report.suite}`,
    '',
    ...facts,
    '',
    ...report.method.map((sentence) => `- ${sentence}`),
    ...tables,
    '',
    '## Aims',
    '',
    ...grid([['What', 'Aim', 'Measured', 'Verdict'], ...verdicts]),
    '',
  ].join('\n');
}

function noted(notes: readonly string[]): string[] {
  return notes.length === 0 ? [] : ['', ...notes];
}

/** A Markdown table with aligned columns, readable as plain text. */
function grid(rows: readonly (readonly string[])[]): string[] {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => [...(row[column] ?? '')].length)));
  const line = (cells: readonly string[], fill: string) =>
    `| ${cells.map((cell, column) => cell + fill.repeat((widths[column] ?? 0) - [...cell].length)).join(' | ')} |`;
  const [first = [], ...others] = rows;
  return [
    line(first, ' '),
    line(
      head.map(() => '-'),
      '-',
    ),
    ...others.map((row) => line(row, ' ')),
  ];
}
