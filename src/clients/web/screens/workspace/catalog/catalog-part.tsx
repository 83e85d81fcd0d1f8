/** What data there is in a workspace: found by words and by what it is. */
import { useState } from 'preact/hooks';
import { api, type CatalogEntry, type CatalogFacets } from '../../../api/client.ts';
import { type CatalogFacts, type CatalogFilter, NO_FILTER, useCatalog, useCatalogFacts } from '../../../state/catalog.ts';
import { mayManage } from '../../../state/place.ts';
import { changed } from '../../../state/store.ts';
import { tell, tellProblem } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/fields.tsx';
import { Icon, type IconName } from '../../../ui/icon.tsx';
import { PlanLink, Tag } from '../../../ui/small.tsx';
import { Empty, Loaded, ProblemState, Skeleton } from '../../../ui/states.tsx';
import { ago } from '../../../words/format.ts';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';
import { EntryDialog } from './entry-dialog.tsx';

const KIND_ICONS = { table: 'table', dataset: 'file', connection: 'link', note: 'book' } as const satisfies Record<
  CatalogEntry['kind'],
  IconName
>;

export function CatalogPart({ slug }: { readonly slug: string }) {
  const [filter, setFilter] = useState(NO_FILTER);
  const facts = useCatalogFacts(slug, filter);
  const [known, setKnown] = useState<CatalogFacts>();
  if (facts.data !== undefined && facts.data !== known) setKnown(facts.data);
  // What was there before stays while the next is loaded, so that the fields keep their places.
  const shown = facts.data ?? known;
  return (
    <Loaded of={{ ...facts, data: shown }}>
      {(data) =>
        data.enabled ? <Entries slug={slug} filter={filter} onFilter={setFilter} facets={data.facets} /> : <Off slug={slug} facts={data} />
      }
    </Loaded>
  );
}

function Off({ slug, facts }: { readonly slug: string; readonly facts: CatalogFacts }) {
  const [isBusy, setBusy] = useState(false);
  const { catalog } = words.value;
  const enable = async () => {
    setBusy(true);
    try {
      const { body } = await api.catalog.enable({ params: { workspaceId: slug } });
      tell(catalog.enabled(body.entries));
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
    changed(`catalog:${slug}`);
  };
  const manages = mayManage(slug);
  const why = !facts.available ? catalog.unavailable : manages ? '' : catalog.offMember;
  return (
    <Empty icon="book" title={catalog.off.title} text={`${catalog.off.text} ${why}`.trim()}>
      {!facts.available && <PlanLink workspace={slug} />}
      {facts.available && manages && (
        <Button look="main" isBusy={isBusy} onClick={() => void enable()}>
          {catalog.enable}
        </Button>
      )}
    </Empty>
  );
}

function Disable({ slug }: { readonly slug: string }) {
  const [asks, setAsks] = useState(false);
  const { catalog } = words.value;
  const disable = async () => {
    try {
      await api.catalog.disable({ params: { workspaceId: slug } });
      tell(catalog.disabled);
    } catch (error) {
      tellProblem(error);
    }
    changed(`catalog:${slug}`);
  };
  return (
    <>
      <Button onClick={() => setAsks(true)}>{catalog.disable}</Button>
      {asks && (
        <Confirm
          title={catalog.disable}
          text={catalog.disableText}
          action={catalog.disable}
          onClose={() => setAsks(false)}
          onConfirm={() => void disable()}
        />
      )}
    </>
  );
}

interface EntriesProps {
  readonly slug: string;
  readonly filter: CatalogFilter;
  readonly onFilter: (filter: CatalogFilter) => void;
  readonly facets: CatalogFacets;
}

function Entries({ slug, filter, onFilter, facets }: EntriesProps) {
  const pages = useCatalog(slug, filter);
  const [isMaking, setMaking] = useState(false);
  const { catalog } = words.value;
  const { items } = pages;
  return (
    <div class="narrow">
      <div class="section-head">
        <div class="grow">
          <h2>{catalog.title}</h2>
          <p class="soft small">{catalog.text}</p>
        </div>
        {mayManage(slug) && <Disable slug={slug} />}
        <Button look="main" icon="plus" onClick={() => setMaking(true)}>
          {catalog.make}
        </Button>
      </div>
      <Filters filter={filter} onFilter={onFilter} facets={facets} />
      {items === undefined && pages.problem === undefined && <Skeleton shape="line" count={4} />}
      {items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {items?.length === 0 && <Empty icon="search" {...catalog.empty} />}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((entry) => (
            <EntryRow key={entry.id} slug={slug} entry={entry} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {isMaking && <EntryDialog slug={slug} entry={undefined} onClose={() => setMaking(false)} />}
    </div>
  );
}

function Filters({ filter, onFilter, facets }: Omit<EntriesProps, 'slug'>) {
  const { catalog } = words.value;
  const options = <V extends string>(
    values: readonly { readonly value: V; readonly count: number }[],
    chosen: V | '',
    name: (value: V) => string,
  ) => [
    { value: '' as V | '', label: catalog.any },
    ...(chosen !== '' && !values.some(({ value }) => value === chosen) ? [{ value: chosen, label: catalog.choice(name(chosen), 0) }] : []),
    ...values.map(({ value, count }) => ({ value, label: catalog.choice(name(value), count) })),
  ];
  const kinds = facets.kinds as { value: CatalogEntry['kind']; count: number }[];
  return (
    <div class="catalog-filters">
      <TextField label={catalog.find} value={filter.q} onText={(q) => onFilter({ ...filter, q })} maxLength={200} />
      <SelectField
        label={catalog.kinds}
        value={filter.kind}
        options={options(kinds, filter.kind, (kind) => catalog.kind[kind])}
        onChoose={(kind) => onFilter({ ...filter, kind })}
      />
      <SelectField
        label={catalog.domains}
        value={filter.domain}
        options={options(facets.domains, filter.domain, (domain) => domain)}
        onChoose={(domain) => onFilter({ ...filter, domain })}
      />
      <SelectField
        label={catalog.tags}
        value={filter.tag}
        options={options(facets.tags, filter.tag, (tag) => tag)}
        onChoose={(tag) => onFilter({ ...filter, tag })}
      />
    </div>
  );
}

/** As imports name what they make of a sheet, in each page alike. */
const SHEET_NAME = /^(?:rows|sheet_\d+)$/;

/** A name that many pages have alike says nothing without its page. */
function titleOf({ kind, name, source }: CatalogEntry): string {
  return kind === 'dataset' && source.type === 'artifact' && SHEET_NAME.test(name) ? `${source.name} · ${name}` : name;
}

function EntryRow({ slug, entry }: { readonly slug: string; readonly entry: CatalogEntry }) {
  const { catalog } = words.value;
  const { id, kind, name, domain, tags, source, freshness } = entry;
  const title = titleOf(entry);
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name={KIND_ICONS[kind]} />
      </span>
      <div class="grow">
        <p class="row-title">
          <a href={`/w/${slug}/catalog/${id}`}>{title}</a>
        </p>
        <p class="row-facts">
          <span>{catalog.kind[kind]}</span>
          {source.type === 'artifact' && title === name && <span>{source.name}</span>}
          {freshness.rows !== null && <span>{catalog.rows(freshness.rows)}</span>}
          {freshness.changed_at !== null && <span>{catalog.changed(ago(freshness.changed_at))}</span>}
        </p>
        {(domain !== null || tags.length > 0) && (
          <p class="row tags">
            {domain !== null && <Tag tone="info">{domain}</Tag>}
            {tags.map((tag) => (
              <Tag key={tag}>{tag}</Tag>
            ))}
          </p>
        )}
      </div>
    </li>
  );
}
