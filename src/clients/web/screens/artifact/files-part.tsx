/** The files of a version. */
import { useState } from 'preact/hooks';
import type { Artifact } from '../../api/client.ts';
import { openPublish } from '../../publish/state.ts';
import { useFiles, useVersions } from '../../state/loads.ts';
import { Button } from '../../ui/button.tsx';
import { SearchField, SelectField } from '../../ui/fields.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Tag } from '../../ui/small.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { bytesText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { mayEdit } from './rights.ts';

function iconOf(mime: string): IconName {
  if (mime.startsWith('image/')) return 'image';
  if (mime.startsWith('text/html')) return 'page';
  return /javascript|json|css|wasm/.test(mime) ? 'code' : 'file';
}

export function FilesPart({ artifact }: { readonly artifact: Artifact }) {
  const [version, setVersion] = useState<string>('');
  const [containing, setContaining] = useState('');
  const versions = useVersions(artifact.id);
  const { files: said, nav } = words.value;
  const list = versions.items ?? [];
  const isNone = list.length === 0 && versions.items !== undefined;
  const chosen = version || artifact.live_version_id || list[0]?.id;
  if (isNone) {
    return (
      <Empty icon="file" {...said.empty} command={`npx easel publish ./my-site --artifact ${artifact.slug}`}>
        {mayEdit(artifact) && (
          <Button look="main" icon="up" onClick={openPublish}>
            {nav.publish}
          </Button>
        )}
      </Empty>
    );
  }
  if (chosen === undefined) return null;
  return (
    <>
      <div class="tools">
        <SelectField
          label={said.choose}
          hideLabel
          value={chosen}
          options={list.map(({ id, version_no }) => ({ value: id, label: said.of(version_no) }))}
          onChoose={setVersion}
        />
        <SearchField label={said.filter} value={containing} onText={setContaining} />
      </div>
      <FileTable
        key={chosen}
        artifactId={artifact.id}
        version={chosen}
        containing={containing.trim().toLowerCase()}
        entry={list.find(({ id }) => id === chosen)?.entrypoint}
      />
    </>
  );
}

interface FileTableProps {
  readonly artifactId: string;
  readonly version: string;
  readonly containing: string;
  readonly entry: string | undefined;
}

function FileTable({ artifactId, version, containing, entry }: FileTableProps) {
  const loaded = useFiles(artifactId, version);
  const { files: said } = words.value;
  return (
    <Loaded of={loaded} shape="line">
      {({ files }) => {
        const shown = files.filter(({ path }) => path.toLowerCase().includes(containing));
        const bytes = files.reduce((sum, file) => sum + file.size_bytes, 0);
        if (shown.length === 0) return <p class="soft">{said.none(containing)}</p>;
        return (
          <>
            <p class="soft small">{said.count(files.length, bytesText(bytes))}</p>
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">{said.path}</th>
                  <th scope="col" class="is-wide">
                    {said.type}
                  </th>
                  <th scope="col" class="is-number">
                    {said.size}
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.map(({ path, mime, size_bytes }) => (
                  <tr key={path}>
                    <td>
                      <span class="file-path">
                        <Icon name={iconOf(mime)} size={16} />
                        <span>{path}</span>
                        {path === entry && <Tag>{said.entry}</Tag>}
                      </span>
                    </td>
                    <td class="is-wide soft">{mime.split(';')[0]}</td>
                    <td class="is-number">{bytesText(size_bytes)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        );
      }}
    </Loaded>
  );
}
