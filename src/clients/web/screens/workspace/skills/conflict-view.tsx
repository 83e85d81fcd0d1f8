/** Where a change and the live version do not go together: what each of them says there. */
import { ShownText, UnseenNote } from '../../../ui/shown-text.tsx';
import { words } from '../../../words/words.ts';
import { type ConflictPart, partsOfConflict } from './conflict.ts';

/** Lines before and after a conflict that say where it is. */
const AROUND_LINES = 3;

export function ConflictView({ text }: { readonly text: string }) {
  const { skills } = words.value;
  const parts = partsOfConflict(text);
  return (
    <>
      <UnseenNote text={text} />
      <div class="conflict">
        {parts.map((part, at) =>
          part.kind === 'same' ? (
            <Same key={at} lines={part.lines} isFirst={at === 0} isLast={at === parts.length - 1} />
          ) : (
            <div key={at} class="conflict-sides">
              <Side name={skills.live} look="is-live" lines={part.live} />
              <Side name={skills.proposedSide} look="is-proposed" lines={part.proposed} />
            </div>
          ),
        )}
      </div>
    </>
  );
}

interface SameProps extends Pick<Extract<ConflictPart, { kind: 'same' }>, 'lines'> {
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

function Same({ lines, isFirst, isLast }: SameProps) {
  const { skills } = words.value;
  const before = isFirst ? 0 : AROUND_LINES;
  const after = isLast ? 0 : AROUND_LINES;
  const left = lines.length - before - after;
  // One line is shorter than what would say that it is left out.
  if (left <= 1) return <Lines lines={lines} />;
  return (
    <>
      {before > 0 && <Lines lines={lines.slice(0, before)} />}
      <p class="conflict-more">{skills.alike(left)}</p>
      {after > 0 && <Lines lines={lines.slice(-after)} />}
    </>
  );
}

function Side({ name, look, lines }: { readonly name: string; readonly look: string; readonly lines: readonly string[] }) {
  return (
    <section class={`conflict-side ${look}`} aria-label={name}>
      <h3>{name}</h3>
      {lines.length === 0 ? <p class="soft small">{words.value.skills.noLines}</p> : <Lines lines={lines} />}
    </section>
  );
}

function Lines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <pre>
      <ShownText text={lines.join('\n')} />
    </pre>
  );
}
