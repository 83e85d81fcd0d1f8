/** A link that shows one version to whoever has it. It is made when it is asked for, and shown this once. */
import { useState } from 'preact/hooks';
import { api, type Version } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { ProblemState } from '../../ui/states.tsx';
import { dateText } from '../../words/format.ts';
import { words } from '../../words/words.ts';

const DAY_S = 24 * 60 * 60;
const DAYS = ['1', '7', '30'] as const;

interface PreviewDialogProps {
  readonly artifactId: string;
  readonly version: Version;
  readonly onClose: () => void;
}

export function PreviewDialog({ artifactId, version, onClose }: PreviewDialogProps) {
  const [days, setDays] = useState<(typeof DAYS)[number]>('7');
  const [link, setLink] = useState<{ readonly url: string; readonly expires_at: string }>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { versions, agents, page } = words.value;
  const make = async () => {
    setBusy(true);
    try {
      const body = { version_id: version.id, expires_in: Number(days) * DAY_S };
      setLink((await api.previewLinks.create({ params: { id: artifactId }, body })).body);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  return (
    <Dialog title={versions.previewTitle(version.version_no)} onClose={onClose}>
      {problem !== undefined && <ProblemState problem={problem} />}
      {link === undefined ? (
        <>
          <SelectField
            label={agents.expires}
            value={days}
            options={DAYS.map((value) => ({ value, label: agents.days(Number(value)) }))}
            onChoose={setDays}
          />
          <div class="dialog-foot">
            <Button look="main" icon="link" isBusy={isBusy} onClick={() => void make()}>
              {versions.preview}
            </Button>
          </div>
        </>
      ) : (
        <>
          <p role="status">{versions.previewMade(dateText(link.expires_at))}</p>
          <p class="address is-boxed">
            <span class="address-text">{link.url}</span>
            <CopyButton text={link.url} />
          </p>
          <div class="dialog-foot">
            <LinkButton look="main" href={link.url} target="_blank" rel="noopener" icon="external">
              {page.visit}
            </LinkButton>
          </div>
        </>
      )}
    </Dialog>
  );
}
