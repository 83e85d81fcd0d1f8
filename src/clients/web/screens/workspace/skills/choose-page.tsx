/** The pages that a skill can be attached to. */
import { useState } from 'preact/hooks';
import type { Artifact, SkillDetail } from '../../../api/client.ts';
import { turnForPage, useSkills, useSkillUses } from '../../../state/skills.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/fields.tsx';
import { Tag } from '../../../ui/small.tsx';
import { Empty, ProblemNote, Skeleton } from '../../../ui/states.tsx';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';
import { useEditablePages } from './editable-pages.ts';

interface ChooseProps {
  readonly slug: string;
  readonly skill: SkillDetail;
  readonly onClose: () => void;
}

export function ChoosePageDialog({ slug, skill, onClose }: ChooseProps) {
  const [text, setText] = useState('');
  const { items: all, problem } = useSkills(slug);
  const { skills, app } = words.value;
  const containing = text.trim();
  return (
    <Dialog title={skills.attachTitle(skill.name)} wide onClose={onClose}>
      <TextField label={skills.findPage} value={text} onText={setText} maxLength={100} autoFocus />
      {all === undefined && problem === undefined ? (
        <Skeleton shape="line" count={3} />
      ) : (
        <Choices
          key={containing}
          {...{ slug, skill, containing }}
          ofSkills={new Set((all ?? []).map(({ artifact_id }) => artifact_id as string))}
        />
      )}
      <div class="dialog-foot">
        <Button look="main" onClick={onClose}>
          {app.done}
        </Button>
      </div>
    </Dialog>
  );
}

interface ChoicesProps extends Pick<ChooseProps, 'slug' | 'skill'> {
  readonly containing: string;
  /** The pages of skills themselves, which are nothing to attach them to. */
  readonly ofSkills: ReadonlySet<string>;
}

function Choices({ slug, skill, containing, ofSkills }: ChoicesProps) {
  const pages = useEditablePages(slug, containing, ({ id }) => id !== skill.artifact_id && !ofSkills.has(id));
  const uses = useSkillUses(skill.id).pages.items ?? [];
  const { skills } = words.value;
  const { items, problem, reload, hasMore, isLoadingMore, lookedAt } = pages;
  if (items === undefined)
    return problem === undefined ? <Skeleton shape="line" count={3} /> : <ProblemNote problem={problem} onRetry={reload} />;
  if (items.length === 0 && isLoadingMore) return <Skeleton shape="line" count={3} />;
  if (items.length === 0 && !hasMore) return <Empty icon="page" {...(containing === '' ? skills.noEditable : skills.noPages)} />;
  return (
    <>
      {items.length === 0 && <p class="soft">{skills.noneSoFar(lookedAt)}</p>}
      {items.length > 0 && (
        <ul class="rows">
          {items.map((page) => (
            <PageChoice key={page.id} skill={skill} page={page} isAttached={uses.some(({ id }) => id === page.id)} />
          ))}
        </ul>
      )}
      <More pages={pages} isByHand />
    </>
  );
}

interface PageChoiceProps {
  readonly skill: SkillDetail;
  readonly page: Artifact;
  readonly isAttached: boolean;
}

function PageChoice({ skill, page, isAttached }: PageChoiceProps) {
  const [isBusy, setBusy] = useState(false);
  const { skills } = words.value;
  const attach = async () => {
    setBusy(true);
    await turnForPage('attach', page.id, skill.id, skills.attachedTo(skill.name, page.name));
    setBusy(false);
  };
  return (
    <li class="row-item">
      <p class="row-title grow">{page.name}</p>
      {isAttached ? (
        <Tag icon="check" tone="good">
          {skills.isAttached}
        </Tag>
      ) : (
        <Button small aria-label={skills.attachToOf(page.name)} isBusy={isBusy} onClick={() => void attach()}>
          {skills.attachOne}
        </Button>
      )}
    </li>
  );
}
