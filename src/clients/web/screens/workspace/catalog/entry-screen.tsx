/** One entry of the catalog: what is written about it, its fields, and what it is made from. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api, type CatalogEntry } from '../../../api/client.ts';
import { ownerName, useEntry, useLineage } from '../../../state/catalog.ts';
import { mayManage, seatIn } from '../../../state/place.ts';
import { myId } from '../../../state/session.ts';
import { changed } from '../../../state/store.ts';
import { tell, tellProblem } from '../../../state/toasts.ts';
import { useTitle } from '../../../state/window.ts';
import { Button } from '../../../ui/button.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { Head, Tag } from '../../../ui/small.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { ago } from '../../../words/format.ts';
import { words } from '../../../words/words.ts';
import { WorkspaceTabs } from '../tabs.tsx';
import { EntryDialog } from './entry-dialog.tsx';
import { LineageGraph } from './lineage-graph.tsx';

export function EntryScreen({ slug, entryId }: { readonly slug: string; readonly entryId: string }) {
  const { workspace, catalog } = words.value;
  const seat = seatIn(slug);
  const entry = useEntry(slug, entryId);
  useTitle(`${entry.data?.name ?? catalog.title} · ${seat?.name ?? slug}`);
  if (seat === undefined) return <Empty icon="search" {...workspace.missing} />;
  return (
    <>
      <Head title={seat.name} />
      <WorkspaceTabs slug={seat.slug} />
      <div class="narrow">
        <p class="small">
          <a href={`/w/${slug}/catalog`}>{catalog.back}</a>
        </p>
        <Loaded of={entry} missing={catalog.missing}>
          {(data) => <EntryView slug={slug} entry={data} />}
        </Loaded>
      </div>
    </>
  );
}

function EntryView({ slug, entry }: { readonly slug: string; readonly entry: CatalogEntry }) {
  const { catalog } = words.value;
  const { kind, name, domain, tags, description, source, freshness } = entry;
  return (
    <>
      <div class="section-head">
        <div class="grow">
          <h2>{name}</h2>
          <p class="row-facts">
            <span>{catalog.kind[kind]}</span>
            {source.type === 'artifact' && (
              <span>
                <a href={`/p/${source.id}`}>{source.name}</a>
              </span>
            )}
            <span>{catalog.owner(ownerName(entry))}</span>
            {freshness.rows !== null && <span>{catalog.rows(freshness.rows)}</span>}
            {freshness.changed_at !== null && <span>{catalog.changed(ago(freshness.changed_at))}</span>}
          </p>
          <p class="row tags">
            {domain !== null && <Tag tone="info">{domain}</Tag>}
            {tags.map((tag) => (
              <Tag key={tag}>{tag}</Tag>
            ))}
          </p>
        </div>
        <EntryActions slug={slug} entry={entry} />
      </div>
      {description !== '' && <Markdown text={description} />}
      <Fields entry={entry} />
      {kind !== 'note' && <Lineage slug={slug} entry={entry} />}
    </>
  );
}

function EntryActions({ slug, entry }: { readonly slug: string; readonly entry: CatalogEntry }) {
  const [isEditing, setEditing] = useState(false);
  const [asks, setAsks] = useState(false);
  const { route } = useLocation();
  const { catalog } = words.value;
  const { id, name, kind, owner } = entry;
  const remove = async () => {
    try {
      await api.catalog.delete({ params: { workspaceId: slug, entryId: id } });
      tell(catalog.removed(name));
      changed(`catalog:${slug}`);
      route(`/w/${slug}/catalog`, true);
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <div class="row">
      <Button icon="pen" onClick={() => setEditing(true)}>
        {catalog.edit}
      </Button>
      {kind === 'note' && (mayManage(slug) || owner?.id === myId()) && <Button onClick={() => setAsks(true)}>{catalog.remove}</Button>}
      {isEditing && <EntryDialog slug={slug} entry={entry} onClose={() => setEditing(false)} />}
      {asks && (
        <Confirm
          title={catalog.removeOf(name)}
          text={catalog.removeText}
          action={catalog.remove}
          onClose={() => setAsks(false)}
          onConfirm={() => void remove()}
        />
      )}
    </div>
  );
}

function Fields({ entry: { fields, kind } }: { readonly entry: CatalogEntry }) {
  const { catalog } = words.value;
  if (fields.length === 0) return kind === 'table' || kind === 'dataset' ? <p class="soft small">{catalog.noFields}</p> : null;
  return (
    <section class="catalog-section">
      <h3>{catalog.fields}</h3>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{catalog.field}</th>
            <th scope="col">{catalog.type}</th>
            <th scope="col">{catalog.description}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ name, type, description }) => (
            <tr key={name}>
              <td>
                <code>{name}</code>
              </td>
              <td>{type}</td>
              <td>{description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Lineage({ slug, entry }: { readonly slug: string; readonly entry: CatalogEntry }) {
  const lineage = useLineage(slug, entry.id);
  const { catalog } = words.value;
  return (
    <section class="catalog-section">
      <h3>{catalog.lineage}</h3>
      <Loaded of={lineage}>
        {(data) =>
          data.edges.length === 0 ? (
            <p class="soft small">{catalog.noLineage}</p>
          ) : (
            <LineageGraph slug={slug} lineage={data} entryId={entry.id} />
          )
        }
      </Loaded>
    </section>
  );
}
