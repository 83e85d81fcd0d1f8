/** The rows of a dataset as a table, of any version that is kept. */
import { useState } from 'preact/hooks';
import type { Answer } from '../../api/client.ts';
import { useDataset, useDatasetRows } from '../../state/loads.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Loaded, ProblemNote, Skeleton } from '../../ui/states.tsx';
import { dateText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';

type Dataset = Answer<'datasets', 'get'>['data'];

interface RowsProps {
  readonly artifactId: string;
  readonly name: string;
  readonly onClose: () => void;
}

export function DatasetRowsDialog({ artifactId, name, onClose }: RowsProps) {
  const loaded = useDataset(artifactId, name);
  return (
    <Dialog title={words.value.datasets.rowsOf(name)} onClose={onClose} wide>
      <Loaded of={loaded}>{(dataset) => <Rows artifactId={artifactId} dataset={dataset} />}</Loaded>
    </Dialog>
  );
}

/** What is typed is a filter once it is JSON. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function Rows({ artifactId, dataset }: { readonly artifactId: string; readonly dataset: Dataset }) {
  const [chosen, setChosen] = useState<string>();
  const [filter, setFilter] = useState('');
  const { datasets: said } = words.value;
  const typed = filter.trim();
  return (
    <>
      <div class="tools">
        <SelectField
          label={said.which}
          value={chosen ?? String(dataset.version)}
          options={dataset.versions.map(({ version, createdAt, rows }) => ({
            value: String(version),
            label: `${said.version(version)} · ${said.rows(rows)} · ${dateText(createdAt)}`,
          }))}
          onChoose={setChosen}
        />
        <TextField label={said.filter} value={filter} onText={setFilter} hint={said.filterHint} spellcheck={false} />
      </div>
      <RowTable artifactId={artifactId} dataset={dataset} version={Number(chosen ?? dataset.version)} filter={isJson(typed) ? typed : ''} />
    </>
  );
}

interface TableProps {
  readonly artifactId: string;
  readonly dataset: Dataset;
  readonly version: number;
  readonly filter: string;
}

function RowTable({ artifactId, dataset, version, filter }: TableProps) {
  const pages = useDatasetRows(artifactId, dataset.name, version, filter);
  const { datasets: said } = words.value;
  const { items, problem } = pages;
  if (problem !== undefined) return <ProblemNote problem={problem} onRetry={pages.reload} />;
  if (items === undefined) return <Skeleton shape="line" count={5} />;
  const columns = columnsOf(dataset, items);
  return (
    <>
      {items.length === 0 && !pages.hasMore && <p class="soft">{filter === '' ? said.nothing : said.none}</p>}
      {items.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        <section class="table-scroll" tabIndex={0} aria-label={said.rowsOf(dataset.name)}>
          <table class="table">
            <thead>
              <tr>
                {columns.map(({ name, type }) => (
                  <th key={name} scope="col" class={type === 'number' ? 'is-number' : ''}>
                    {name}
                    {type !== undefined && <span class="soft small"> {said.types[type]}</span>}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {items.map((row, at) => (
                <tr key={at}>
                  {columns.map(({ name, type }) => (
                    <td key={name} class={type === 'number' ? 'is-number' : ''}>
                      {cellText(row[name])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <More pages={pages} />
    </>
  );
}

/** Rows of an earlier version may have columns that the newest has not. */
function columnsOf({ columns }: Dataset, rows: readonly Readonly<Record<string, unknown>>[]) {
  const known = new Set(columns.map(({ name }) => name));
  const others = new Set(rows.flatMap((row) => Object.keys(row)).filter((name) => !known.has(name)));
  return [...columns, ...[...others].map((name) => ({ name, type: undefined }))];
}

const CELL_CHARS_MAX = 300;

function cellText(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > CELL_CHARS_MAX ? `${text.slice(0, CELL_CHARS_MAX)}…` : text;
}
