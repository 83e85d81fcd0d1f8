/** What changed from one version to the next, file by file. */
import { api, type Diff, type Version } from '../../api/client.ts';
import { useLoaded } from '../../state/store.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ShownText, UnseenNote } from '../../ui/shown-text.tsx';
import { Loaded } from '../../ui/states.tsx';
import { linesOfUnified } from '../../ui/unified.ts';
import { words } from '../../words/words.ts';

interface DiffViewProps {
  readonly artifactId: string;
  /** Undefined for the first version. */
  readonly from: Version | undefined;
  readonly to: Version;
  readonly onClose: () => void;
}

export function DiffView({ artifactId, from, to, onClose }: DiffViewProps) {
  const { versions } = words.value;
  const title = from === undefined ? versions.no(to.version_no) : versions.compareTitle(from.version_no, to.version_no);
  return (
    <Dialog title={title} wide onClose={onClose}>
      {from === undefined ? <p class="soft">{versions.first}</p> : <Changes artifactId={artifactId} from={from} to={to} />}
    </Dialog>
  );
}

function Changes({ artifactId: id, from, to }: { readonly artifactId: string; readonly from: Version; readonly to: Version }) {
  const load = async () => (await api.versions.diff({ params: { id, a: from.id, b: to.id } })).body;
  const diff = useLoaded(`diff:${id}:${from.id}:${to.id}`, load);
  return (
    <Loaded of={diff} shape="block">
      {(found) => <Found diff={found} />}
    </Loaded>
  );
}

function Found({ diff: { added, removed, modified } }: { readonly diff: Diff }) {
  const { versions } = words.value;
  if (added.length + removed.length + modified.length === 0) return <p class="soft">{versions.same}</p>;
  return (
    <>
      {modified.length > 0 && <h3>{versions.modified(modified.length)}</h3>}
      {modified.map(({ path, unified }) => (
        <details key={path} class="diff" open={modified.length <= 5}>
          <summary>{path}</summary>
          {unified === undefined ? <p class="soft small diff-none">{versions.binary}</p> : <Unified text={unified} />}
        </details>
      ))}
      <Paths title={versions.added(added.length)} paths={added} sign="+" />
      <Paths title={versions.removed(removed.length)} paths={removed} sign="−" />
    </>
  );
}

function Paths({ title, paths, sign }: { readonly title: string; readonly paths: readonly string[]; readonly sign: string }) {
  if (paths.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="diff-paths">
        {paths.map((path) => (
          <li key={path} class={sign === '+' ? 'is-added' : 'is-removed'}>
            <span aria-hidden="true">{sign}</span> {path}
          </li>
        ))}
      </ul>
    </>
  );
}

/** `isProse`: long lines are broken, so that nothing of them stands beside the screen. */
export function Unified({ text, isProse = false }: { readonly text: string; readonly isProse?: boolean }) {
  const lines = linesOfUnified(text);
  return (
    <>
      <UnseenNote text={lines.map((line) => line.text).join('\n')} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre class={`diff-text${isProse ? ' is-prose' : ''}`} tabIndex={0}>
        {lines.map((line, at) => (
          <span key={at} class={`is-${line.kind}`}>
            <ShownText text={line.text} />
            {'\n'}
          </span>
        ))}
      </pre>
    </>
  );
}
