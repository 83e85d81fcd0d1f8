/** Looks into a drive, and makes a folder of it a source. */
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { ImportEntry } from '../../../api/client.ts';
import { type Problem, problemOf } from '../../../api/problem.ts';
import { createSource, type Provider, useBrowsed } from '../../../state/imports.ts';
import { tell } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/fields.tsx';
import { Icon, type IconName } from '../../../ui/icon.tsx';
import { ProblemNote, Skeleton } from '../../../ui/states.tsx';
import { problemWords } from '../../../words/problems.ts';
import { words } from '../../../words/words.ts';
import { ConnectButton } from './import-words.tsx';
import { type Rules, SourceFields } from './source-fields.tsx';

const TYPING_MS = 300;
const SHOWN_AT_ONCE = 100;
/** As `importBrowseEntriesMax` in protocol/core/limits.ts, which is not bundled. */
const ENTRIES_MAX = 1000;
const ICONS = { folder: 'folder', drive: 'inbox', site: 'globe', group: 'people' } as const satisfies Record<ImportEntry['kind'], IconName>;

interface DialogProps {
  readonly slug: string;
  readonly provider: Provider;
  readonly onClose: () => void;
}

export function BrowseDialog({ slug, provider, onClose }: DialogProps) {
  const [chosen, setChosen] = useState<ImportEntry>();
  const { imports } = words.value;
  const drive = imports.providers[provider];
  return (
    <Dialog title={imports.addOf(drive)} wide isChanged={chosen !== undefined} onClose={onClose}>
      {/* What was opened stays open while the rules are looked at. */}
      <div hidden={chosen !== undefined}>
        <Browser slug={slug} provider={provider} onChoose={setChosen} />
      </div>
      {chosen !== undefined && (
        <SourceForm slug={slug} provider={provider} chosen={chosen} onBack={() => setChosen(undefined)} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface BrowserProps {
  readonly slug: string;
  readonly provider: Provider;
  readonly onChoose: (entry: ImportEntry) => void;
}

function Browser({ slug, provider, onChoose }: BrowserProps) {
  const [trail, setTrail] = useState<readonly ImportEntry[]>([]);
  const [typed, setTyped] = useState('');
  const [q, setQ] = useState('');
  const [isSearchable, setSearchable] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { imports } = words.value;
  const here = trail.at(-1);
  const browsed = useBrowsed(slug, provider, here?.ref ?? 'root', here === undefined ? q : '');
  useEffect(() => {
    if (browsed.data?.searchable === true) setSearchable(true);
  }, [browsed.data]);
  return (
    <>
      <Trail provider={provider} trail={trail} onTrail={setTrail} />
      {isSearchable && here === undefined && <TextField label={imports.search} value={typed} onText={setTyped} maxLength={200} />}
      {browsed.data === undefined && browsed.problem === undefined && <Skeleton shape="line" count={4} />}
      {browsed.data === undefined && browsed.problem !== undefined && (
        <BrowseProblem slug={slug} provider={provider} problem={browsed.problem} onRetry={browsed.reload} />
      )}
      {browsed.data !== undefined && (
        <Entries
          key={`${here?.ref ?? 'root'} ${q}`}
          entries={browsed.data.entries}
          isSearch={here === undefined && q !== ''}
          onOpen={(entry) => setTrail([...trail, entry])}
          onChoose={onChoose}
        />
      )}
      {here?.selectable === true && browsed.data !== undefined && (
        <div class="dialog-foot">
          <Button look="main" onClick={() => onChoose(here)}>
            {imports.chooseThis(here.name)}
          </Button>
        </div>
      )}
    </>
  );
}

interface TrailProps {
  readonly provider: Provider;
  readonly trail: readonly ImportEntry[];
  readonly onTrail: (trail: readonly ImportEntry[]) => void;
}

function Trail({ provider, trail, onTrail }: TrailProps) {
  const { imports } = words.value;
  const steps = [imports.providers[provider], ...trail.map(({ name }) => name)];
  return (
    <nav class="import-trail" aria-label={imports.where}>
      <ol>
        {steps.map((name, at) => (
          <li key={at}>
            {at === steps.length - 1 ? (
              <span aria-current="location">{name}</span>
            ) : (
              <button type="button" class="link" onClick={() => onTrail(trail.slice(0, at))}>
                {name}
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

interface BrowseProblemProps {
  readonly slug: string;
  readonly provider: Provider;
  readonly problem: Problem;
  readonly onRetry: () => void;
}

function BrowseProblem({ slug, provider, problem, onRetry }: BrowseProblemProps) {
  const { imports } = words.value;
  const isCut = problem.code === 'IMPORT_NOT_CONNECTED';
  if (!isCut && !problem.isMissing) return <ProblemNote problem={problem} onRetry={onRetry} />;
  return (
    <div class="notice bad" role="alert">
      <p>{isCut ? imports.stop.CONNECTION_REVOKED : imports.goneFolder}</p>
      {isCut && (
        <p class="row">
          <ConnectButton slug={slug} provider={provider} isAgain />
        </p>
      )}
    </div>
  );
}

interface EntriesProps {
  readonly entries: readonly ImportEntry[];
  readonly isSearch: boolean;
  readonly onOpen: (entry: ImportEntry) => void;
  readonly onChoose: (entry: ImportEntry) => void;
}

function Entries({ entries, isSearch, onOpen, onChoose }: EntriesProps) {
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const { imports } = words.value;
  if (entries.length === 0) return <p class="soft">{isSearch ? imports.nothingFound : imports.emptyFolder}</p>;
  const left = entries.length - shown;
  return (
    <>
      <ul class="choices">
        {entries.slice(0, shown).map((entry) => (
          <li key={entry.ref} class="import-entry">
            <button type="button" class="choice grow" onClick={() => onOpen(entry)}>
              <Icon name={ICONS[entry.kind]} />
              <span class="grow">
                <span class="unseen">{imports.open} </span>
                {entry.name}
              </span>
              {entry.kind !== 'folder' && <span class="small soft">{imports.kinds[entry.kind]}</span>}
              <Icon name="right" size={16} />
            </button>
            {entry.selectable && (
              <Button small aria-label={imports.chooseOf(entry.name)} onClick={() => onChoose(entry)}>
                {imports.choose}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {left > 0 && (
        <div class="more">
          <Button onClick={() => setShown(shown + SHOWN_AT_ONCE)}>{imports.more(left)}</Button>
        </div>
      )}
      {left <= 0 && entries.length >= ENTRIES_MAX && <p class="soft small">{imports.firstOnly(ENTRIES_MAX)}</p>}
    </>
  );
}

interface FormProps extends DialogProps {
  readonly chosen: ImportEntry;
  readonly onBack: () => void;
}

function SourceForm({ slug, provider, chosen, onBack, onClose }: FormProps) {
  const [rules, setRules] = useState<Rules>({ targetFolderId: null, convert: true, dailySync: false });
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { route } = useLocation();
  const { imports } = words.value;
  const { targetFolderId, convert, dailySync } = rules;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    if (targetFolderId === null) return;
    setBusy(true);
    try {
      const id = await createSource(slug, { provider, ref: chosen.ref, targetFolderId, convert, dailySync });
      tell(imports.saved(chosen.name));
      onClose();
      route(`/w/${slug}/imports/${id}`);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  return (
    <form onSubmit={save}>
      <p class="import-chosen">
        <Icon name={ICONS[chosen.kind]} /> <strong>{chosen.name}</strong>
      </p>
      <SourceFields slug={slug} rules={rules} onRules={setRules} />
      {failed && (
        <p class="field-note is-bad" role="alert">
          {failed.title} {failed.text}
        </p>
      )}
      <div class="dialog-foot">
        <Button onClick={onBack}>{imports.another}</Button>
        <Button type="submit" look="main" isBusy={isBusy} disabled={targetFolderId === null}>
          {imports.save}
        </Button>
      </div>
    </form>
  );
}
