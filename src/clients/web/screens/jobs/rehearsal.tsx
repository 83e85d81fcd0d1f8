/** What a job would write, send and call. */
import { createPatch } from 'diff';
import type { Rehearsal } from '../../api/client.ts';
import { Code } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { words } from '../../words/words.ts';
import { Unified } from '../artifact/diff-view.tsx';

/** Values that differ in more lines are shown one after the other: a comparison line by line would take long. */
const EDITS_MAX = 2000;

export function RehearsalDialog({ found, onClose }: { readonly found: Rehearsal; readonly onClose: () => void }) {
  const { jobs } = words.value;
  const { write, send, call } = found.would;
  return (
    <Dialog title={jobs.rehearsal} onClose={onClose} wide>
      <p class="soft small">{jobs.rehearsalText}</p>
      {found.error !== null && (
        <p class="notice bad" role="alert">
          {jobs.wouldFail(found.error)}
        </p>
      )}
      {write.length + send.length + call.length === 0 && <p>{jobs.wouldNothing}</p>}
      {write.length > 0 && <h3>{jobs.wouldWrite(write.length)}</h3>}
      {write.map((one) => (
        <Written key={`${one.channel} ${one.name}`} {...one} />
      ))}
      {send.length > 0 && <h3>{jobs.wouldSend(send.length)}</h3>}
      {send.map(({ to, subject, attachments }) => (
        <p key={`${to.join()} ${subject}`} class="job-would">
          {to.join(', ')}: {subject}
          {attachments.length > 0 && ` (${attachments.join(', ')})`}
        </p>
      ))}
      {call.length > 0 && <h3>{jobs.wouldCall(call.length)}</h3>}
      {call.map(({ method, url }, at) => (
        <p key={at} class="job-would">
          <code>
            {method} {url}
          </code>
        </p>
      ))}
      {found.output !== null && found.output !== '' && (
        <>
          <h3>{jobs.output}</h3>
          <Code text={found.output} />
        </>
      )}
    </Dialog>
  );
}

function Written({ channel, name, before, after }: Rehearsal['would']['write'][number]) {
  const { jobs } = words.value;
  const what = before === null ? jobs.made : after === null ? jobs.deleted_ : jobs.changed;
  return (
    <details class="diff" open>
      <summary>
        {channel}/{name} ({what})
      </summary>
      <Unified text={differenceOf(before, after)} />
    </details>
  );
}

/** Null is nothing: a value that is made or deleted. */
function differenceOf(before: unknown, after: unknown): string {
  const old = writtenOut(before);
  const next = writtenOut(after);
  return createPatch('', old, next, '', '', { context: 3, maxEditLength: EDITS_MAX }) ?? replaced(old, next);
}

/** As a patch that takes all of the old lines and puts all of the new ones. */
function replaced(old: string, next: string): string {
  const marked = (text: string, sign: string) => text.replace(/^(?=.)/gm, sign);
  const count = (text: string) => text.split('\n').length - 1;
  return `@@ -1,${count(old)} +1,${count(next)} @@\n${marked(old, '-')}${marked(next, '+')}`;
}

function writtenOut(value: unknown): string {
  return value === null ? '' : `${JSON.stringify(value, null, 2)}\n`;
}
