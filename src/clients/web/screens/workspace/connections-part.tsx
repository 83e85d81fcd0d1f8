/** The connections of a workspace. Credentials are typed, and never shown. */
import { useState } from 'preact/hooks';
import { api, type Connection } from '../../api/client.ts';
import { useConnections } from '../../state/catalog.ts';
import { mayManage } from '../../state/place.ts';
import { changed } from '../../state/store.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Tag } from '../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { ago } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { ConnectionDialog, CredentialsDialog } from './connection-dialog.tsx';

export function ConnectionsPart({ slug }: { readonly slug: string }) {
  const pages = useConnections(slug);
  const [isMaking, setMaking] = useState(false);
  const { connections } = words.value;
  const { items } = pages;
  const make = mayManage(slug) && (
    <Button look="main" icon="plus" onClick={() => setMaking(true)}>
      {connections.make}
    </Button>
  );
  return (
    <div class="narrow">
      <div class="section-head">
        <div class="grow">
          <h2>{connections.title}</h2>
          <p class="soft small">{connections.text}</p>
        </div>
        {items !== undefined && items.length > 0 && make}
      </div>
      {items === undefined && pages.problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {items?.length === 0 && (
        <Empty icon="link" {...connections.empty} command={`npx easel connections create ${slug} connection.json`}>
          {make}
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((connection) => (
            <ConnectionRow key={connection.id} slug={slug} connection={connection} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {isMaking && <ConnectionDialog slug={slug} onClose={() => setMaking(false)} />}
    </div>
  );
}

function credentialsTag({ authType, credentialScope, has_credentials }: Connection) {
  const { connections } = words.value;
  if (authType === 'none') return <Tag>{connections.unneeded}</Tag>;
  const [stored, missing] =
    credentialScope === 'person' ? [connections.own, connections.ownMissing] : [connections.stored, connections.missing];
  return <Tag tone={has_credentials ? 'good' : 'warn'}>{has_credentials ? stored : missing}</Tag>;
}

function ConnectionRow({ slug, connection }: { readonly slug: string; readonly connection: Connection }) {
  const { connections } = words.value;
  const { id, name, type, config, last_used_at, last_error } = connection;
  const place =
    'url' in config ? config.url : 'host' in config ? `${config.host}/${config.database}` : `${config.endpoint}/${config.bucket}`;
  return (
    <li class="row-item hook">
      <span class="avatar is-square has-icon">
        <Icon name="link" />
      </span>
      <div class="grow">
        <p class="row-title">{name}</p>
        <p class="row-facts">
          <span>{place}</span>
          <span>{last_used_at === null ? connections.unused : connections.used(ago(last_used_at))}</span>
          {last_error !== null && <span>{last_error}</span>}
        </p>
        <p class="row tags">
          <Tag>{connections.types[type]}</Tag>
          {credentialsTag(connection)}
          <code>{id}</code>
        </p>
        <ConnectionActions slug={slug} connection={connection} />
      </div>
    </li>
  );
}

function ConnectionActions({ slug, connection }: { readonly slug: string; readonly connection: Connection }) {
  const [asks, setAsks] = useState(false);
  const [isTyping, setTyping] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { connections } = words.value;
  const { id, name, authType, credentialScope } = connection;
  const manages = mayManage(slug);
  const test = async () => {
    setBusy(true);
    try {
      const { body } = await api.connections.test({ params: { workspaceId: slug }, body: { connection_id: id } });
      tell(body.ok ? connections.works(body.detail ?? '') : connections.fails(body.error ?? ''));
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
    changed(`connections:${slug}`);
  };
  const remove = async () => {
    try {
      await api.connections.delete({ params: { workspaceId: slug, connectionId: id } });
      tell(connections.removed(name));
    } catch (error) {
      tellProblem(error);
    }
    changed(`connections:${slug}`, `catalog:${slug}`);
  };
  return (
    <div class="row">
      <Button small isBusy={isBusy} aria-label={connections.testOf(name)} onClick={() => void test()}>
        {connections.test}
      </Button>
      {authType !== 'none' && (manages || credentialScope === 'person') && (
        <Button small aria-label={connections.credentialsOf(name)} onClick={() => setTyping(true)}>
          {connections.credentials}
        </Button>
      )}
      {manages && (
        <Button small aria-label={connections.removeOf(name)} onClick={() => setAsks(true)}>
          {connections.remove}
        </Button>
      )}
      {isTyping && <CredentialsDialog slug={slug} connection={connection} onClose={() => setTyping(false)} />}
      {asks && (
        <Confirm
          title={connections.removeOf(name)}
          text={connections.removeText}
          action={connections.remove}
          onClose={() => setAsks(false)}
          onConfirm={() => void remove()}
        />
      )}
    </div>
  );
}
