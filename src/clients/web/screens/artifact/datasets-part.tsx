/** The datasets of a page: what is stored, its rows, downloads, new versions. */
import { useState } from 'preact/hooks';
import { type Answer, type Artifact, api } from '../../api/client.ts';
import { useDatasets } from '../../state/loads.ts';
import { changed } from '../../state/store.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Tag, Time } from '../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { bytesText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { DatasetRowsDialog } from './dataset-rows.tsx';
import { DatasetUploadDialog } from './dataset-upload.tsx';
import { mayEdit } from './rights.ts';

type Dataset = Answer<'datasets', 'list'>['data']['datasets'][number];

export function DatasetsPart({ artifact }: { readonly artifact: Artifact }) {
  const [isAdding, setAdding] = useState(false);
  const pages = useDatasets(artifact.id);
  const { datasets: said } = words.value;
  const { items, problem } = pages;
  if (items === undefined)
    return problem === undefined ? <Skeleton shape="line" count={4} /> : <ProblemState problem={problem} onRetry={pages.reload} />;
  const add = mayEdit(artifact) && (
    <Button look="main" icon="up" onClick={() => setAdding(true)}>
      {said.add}
    </Button>
  );
  return (
    <>
      {items.length === 0 ? (
        <Empty icon="table" {...said.empty} command={`npx easel datasets put sales sales.csv --artifact ${artifact.slug}`}>
          {add}
        </Empty>
      ) : (
        <>
          <div class="tools">{add}</div>
          <ul class="rows" aria-label={said.title}>
            {items.map((dataset) => (
              <DatasetRow key={dataset.name} artifact={artifact} dataset={dataset} />
            ))}
          </ul>
          <More pages={pages} />
        </>
      )}
      {isAdding && <DatasetUploadDialog artifactId={artifact.id} onClose={() => setAdding(false)} />}
    </>
  );
}

function DatasetRow({ artifact, dataset }: { readonly artifact: Artifact; readonly dataset: Dataset }) {
  const [dialog, setDialog] = useState<'rows' | 'upload' | 'delete'>();
  const { datasets: said, app } = words.value;
  const { name, version, rows, sizeBytes, createdAt } = dataset;
  const close = () => setDialog(undefined);
  return (
    <li class="row-item">
      <div class="grow">
        <p class="row-title">
          {name}
          <Tag>{said.version(version)}</Tag>
        </p>
        <p class="row-facts">
          <span>{said.rows(rows)}</span>
          <span>{bytesText(sizeBytes)}</span>
          <Time at={createdAt} />
        </p>
      </div>
      <div class="row tight">
        <Button small onClick={() => setDialog('rows')}>
          {said.show}
        </Button>
        <Menu label={app.actions(name)} items={() => actionsOf(artifact, dataset, setDialog)} />
      </div>
      {dialog === 'rows' && <DatasetRowsDialog artifactId={artifact.id} name={name} onClose={close} />}
      {dialog === 'upload' && <DatasetUploadDialog artifactId={artifact.id} name={name} onClose={close} />}
      {dialog === 'delete' && (
        <Confirm
          title={said.delete}
          text={said.deleteText}
          action={said.delete}
          onClose={close}
          onConfirm={() => void remove(artifact.id, name)}
        />
      )}
    </li>
  );
}

function actionsOf(artifact: Artifact, { name, version }: Dataset, open: (dialog: 'upload' | 'delete') => void): readonly MenuItem[] {
  const { datasets: said } = words.value;
  const address = `/v1/data/${artifact.id}/datasets/${name}/content?version=${version}&format=`;
  const downloads = (['csv', 'ndjson', 'json'] as const).map((format) => ({
    kind: 'link' as const,
    label: said.download(format.toUpperCase()),
    icon: 'down' as const,
    href: address + format,
    isDownload: true,
  }));
  if (!mayEdit(artifact)) return downloads;
  return [
    ...downloads,
    { kind: 'line' },
    { label: said.newVersion, icon: 'up', run: () => open('upload') },
    { label: said.delete, icon: 'trash', isDanger: true, run: () => open('delete') },
  ];
}

async function remove(artifactId: string, name: string): Promise<void> {
  try {
    await api.datasets.delete({ params: { artifactId, dataset: name } });
    tell(words.value.datasets.deleted(name));
  } catch (error) {
    tellProblem(error);
  }
  changed(`datasets:${artifactId}`);
}
