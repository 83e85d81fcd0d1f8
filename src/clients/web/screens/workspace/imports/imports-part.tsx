/** The drives that a person has connected to a workspace, and the sources of files in it. */
import { useEffect, useState } from 'preact/hooks';
import type { ImportDrive, ImportSource } from '../../../api/client.ts';
import { changesAfterMs, disconnectDrive, type Imports, isUnderWay, useImports } from '../../../state/imports.ts';
import { useFollowing } from '../../../state/jobs.ts';
import { tell, tellProblem } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Tag, Time } from '../../../ui/small.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { words } from '../../../words/words.ts';
import { BrowseDialog } from './browse-dialog.tsx';
import { ConnectButton, NextRun, StatusTag, SyncButton, summaryOf } from './import-words.tsx';

export function ImportsPart({ slug }: { readonly slug: string }) {
  const loaded = useImports(slug);
  const { data, isLoading, reload } = loaded;
  const { imports } = words.value;
  useFollowing(changesAfterMs(data?.sources ?? []), { isLoading, data }, reload);
  return (
    <div class="narrow">
      <div class="section-head">
        <div class="grow">
          <h2>{imports.title}</h2>
          <p class="soft small">{imports.text}</p>
        </div>
      </div>
      <Outcome slug={slug} />
      <Loaded of={loaded}>{(all) => <Everything slug={slug} imports={all} />}</Loaded>
    </div>
  );
}

type OutcomeKind = 'connected' | 'canceled' | 'failed';

/** What the address says that the browser has come back from a provider with. */
function Outcome({ slug }: { readonly slug: string }) {
  const { imports } = words.value;
  const [came, setCame] = useState<{ readonly drive: ImportDrive['id']; readonly outcome: OutcomeKind }>();
  useEffect(() => {
    const { drive = '', outcome = '' } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    if (!Object.hasOwn(imports.providers, drive) || !Object.hasOwn(imports.outcome, outcome)) return;
    setCame({ drive: drive as ImportDrive['id'], outcome: outcome as OutcomeKind });
    // It is not said again when the page is loaded anew.
    history.replaceState(history.state, '', `/w/${slug}/imports`);
  }, []);
  if (came === undefined) return null;
  const isGood = came.outcome === 'connected';
  return (
    <div class={`notice ${isGood ? 'good' : 'bad'}`} role={isGood ? 'status' : 'alert'}>
      <p>{imports.outcome[came.outcome](imports.providers[came.drive])}</p>
    </div>
  );
}

function Everything({ slug, imports: { providers, sources } }: { readonly slug: string; readonly imports: Imports }) {
  const [browsed, setBrowsed] = useState<ImportDrive['id']>();
  const { imports } = words.value;
  if (providers.length === 0 && sources.length === 0) return <Empty icon="down" {...imports.none} />;
  return (
    <>
      {providers.length > 0 && (
        <section class="catalog-section">
          <h3>{imports.drives}</h3>
          <ul class="rows">
            {providers.map((drive) => (
              <DriveRow key={drive.id} slug={slug} drive={drive} onBrowse={() => setBrowsed(drive.id)} />
            ))}
          </ul>
        </section>
      )}
      <section class="catalog-section">
        <h3>{imports.sources}</h3>
        {sources.length === 0 ? (
          <Empty icon="folder" {...imports.noSources} />
        ) : (
          <ul class="rows">
            {sources.map((source) => (
              <SourceRow key={source.id} slug={slug} source={source} />
            ))}
          </ul>
        )}
      </section>
      {browsed !== undefined && <BrowseDialog slug={slug} provider={browsed} onClose={() => setBrowsed(undefined)} />}
    </>
  );
}

/** The provider was connected once, and does not accept the access any more. */
function isWithdrawn({ connected, accountEmail }: ImportDrive): boolean {
  return !connected && accountEmail !== null;
}

interface DriveProps {
  readonly slug: string;
  readonly drive: ImportDrive;
  readonly onBrowse: () => void;
}

function DriveRow({ slug, drive, onBrowse }: DriveProps) {
  const { imports } = words.value;
  const { id, connected, accountEmail } = drive;
  const name = imports.providers[id];
  const email = accountEmail ?? '';
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name="folder" />
      </span>
      <div class="grow">
        <p class="row-title">
          {name}
          {isWithdrawn(drive) && <Tag tone="warn">{imports.withdrawn}</Tag>}
        </p>
        <p class="row-facts">
          {connected && <span>{email === '' ? imports.connected : imports.connectedAs(email)}</span>}
          {!connected && <span>{isWithdrawn(drive) ? email : imports.notConnected}</span>}
        </p>
        {isWithdrawn(drive) && <p class="row-note">{imports.withdrawnText}</p>}
      </div>
      {connected ? (
        <Button small look="main" icon="plus" aria-label={imports.addOf(name)} onClick={onBrowse}>
          {imports.add}
        </Button>
      ) : (
        <ConnectButton slug={slug} provider={id} isAgain={isWithdrawn(drive)} look="main" />
      )}
      {(connected || isWithdrawn(drive)) && <Disconnect slug={slug} provider={id} />}
    </li>
  );
}

function Disconnect({ slug, provider }: { readonly slug: string; readonly provider: ImportDrive['id'] }) {
  const [asks, setAsks] = useState(false);
  const { imports } = words.value;
  const name = imports.providers[provider];
  const disconnect = async () => {
    try {
      await disconnectDrive(slug, provider);
      tell(imports.disconnected(name));
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <>
      <Button small aria-label={imports.disconnectOf(name).replace(/[¿?]/g, '')} onClick={() => setAsks(true)}>
        {imports.disconnect}
      </Button>
      {asks && (
        <Confirm
          title={imports.disconnectOf(name)}
          text={imports.disconnectText}
          action={imports.disconnect}
          onClose={() => setAsks(false)}
          onConfirm={() => void disconnect()}
        />
      )}
    </>
  );
}

function SourceRow({ slug, source }: { readonly slug: string; readonly source: ImportSource }) {
  const { imports } = words.value;
  const { id, provider, remoteName, targetFolderName, convert, dailySync, connected, mine, lastRun } = source;
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name="down" />
      </span>
      <div class="grow">
        <p class="row-title">
          <a href={`/w/${slug}/imports/${id}`}>{remoteName}</a>
        </p>
        <p class="row-facts">
          <span>{imports.providers[provider]}</span>
          <span>{targetFolderName === null ? imports.targetGone : imports.into(targetFolderName)}</span>
          {dailySync && connected && (
            <span>
              {imports.facts.next} <NextRun source={source} />
            </span>
          )}
        </p>
        <p class="row-facts">
          {lastRun === null ? (
            <span>{imports.neverRan}</span>
          ) : (
            <>
              <Time at={lastRun.createdAt} />
              <span>{summaryOf(lastRun)}</span>
            </>
          )}
        </p>
        <p class="row tags">
          {lastRun !== null && <StatusTag run={lastRun} />}
          {!connected && <Tag tone="warn">{imports.notConnected}</Tag>}
          {dailySync && <Tag>{imports.everyDay}</Tag>}
          {convert && <Tag>{imports.converts}</Tag>}
          {!mine && <Tag>{imports.ofOther}</Tag>}
        </p>
      </div>
      {mine && connected && !isUnderWay(lastRun) && <SyncButton slug={slug} source={source} />}
      {mine && !connected && <ConnectButton slug={slug} provider={provider} isAgain />}
    </li>
  );
}
