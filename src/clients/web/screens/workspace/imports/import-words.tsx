/** What the list and the screen of a source say alike. */
import { useState } from 'preact/hooks';
import type { ImportRun, ImportSource } from '../../../api/client.ts';
import { connectDrive, type Provider, syncSource } from '../../../state/imports.ts';
import { tell, tellProblem } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Tag, Time } from '../../../ui/small.tsx';
import { words } from '../../../words/words.ts';

const TONES: Partial<Record<ImportRun['status'], 'good' | 'warn' | 'info'>> = {
  completed: 'good',
  failed: 'warn',
  stopped: 'warn',
  queued: 'info',
  running: 'info',
};

export function StatusTag({ run: { status, stopCode } }: { readonly run: ImportRun }) {
  const isWarned = status === 'completed' && stopCode !== null;
  return <Tag tone={isWarned ? 'warn' : (TONES[status] ?? 'plain')}>{words.value.imports.status[status]}</Tag>;
}

export function summaryOf({ counts }: ImportRun): string {
  return words.value.imports.summary(counts.imported + counts.converted, counts.unchanged, counts.failed);
}

export function NextRun({ source: { nextSyncAt, connected } }: { readonly source: ImportSource }) {
  const { imports } = words.value;
  if (nextSyncAt === null) return <>{imports.byHand}</>;
  if (!connected) return <>{imports.whenConnected}</>;
  return <Time at={nextSyncAt} />;
}

interface ConnectProps {
  readonly slug: string;
  readonly provider: Provider;
  readonly isAgain: boolean;
  readonly look?: 'main' | 'second';
}

/** The window leaves for the provider; the button is busy until it has. */
export function ConnectButton({ slug, provider, isAgain, look = 'second' }: ConnectProps) {
  const [isBusy, setBusy] = useState(false);
  const { imports } = words.value;
  const drive = imports.providers[provider];
  const connect = async () => {
    setBusy(true);
    try {
      await connectDrive(slug, provider);
    } catch (error) {
      tellProblem(error);
      setBusy(false);
    }
  };
  return (
    <Button
      small
      look={look}
      icon="link"
      isBusy={isBusy}
      aria-label={isAgain ? imports.reconnectOf(drive) : imports.connectOf(drive)}
      onClick={() => void connect()}
    >
      {isAgain ? imports.reconnect : imports.connect}
    </Button>
  );
}

interface SyncProps {
  readonly slug: string;
  readonly source: ImportSource;
  readonly look?: 'main' | 'second';
}

export function SyncButton({ slug, source, look = 'second' }: SyncProps) {
  const [isBusy, setBusy] = useState(false);
  const { imports } = words.value;
  const sync = async () => {
    setBusy(true);
    try {
      tell((await syncSource(slug, source.id)) === 'began' ? imports.began : imports.underWay);
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  };
  return (
    <Button small look={look} icon="down" isBusy={isBusy} aria-label={imports.syncOf(source.remoteName)} onClick={() => void sync()}>
      {imports.sync}
    </Button>
  );
}
