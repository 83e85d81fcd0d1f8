/** One skill: what it says, and what is proposed to it. */
import { useState } from 'preact/hooks';
import type { SkillChange } from '../../../api/client.ts';
import { bodyOf, type ReadSkill, useChanges, useSkill } from '../../../state/skills.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { Tag, Time } from '../../../ui/small.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import { ChoosePageDialog } from './choose-page.tsx';
import { ProposeDialog, type Unmerged } from './propose-dialog.tsx';
import { SkillUses } from './skill-uses.tsx';

interface SkillDialogProps {
  readonly slug: string;
  readonly skillId: string;
  readonly onClose: () => void;
}

export function SkillDialog({ slug, skillId, onClose }: SkillDialogProps) {
  const loaded = useSkill(skillId);
  const [mode, setMode] = useState<'read' | 'propose' | 'attach'>('read');
  const [reviewed, setReviewed] = useState<SkillChange>();
  const [unmerged, setUnmerged] = useState<Unmerged>();
  const { skills } = words.value;
  const { data } = loaded;
  if (mode === 'propose' && data !== undefined) {
    const close = () => {
      setUnmerged(undefined);
      setMode('read');
    };
    return <ProposeDialog read={data} begun={unmerged} onClose={close} />;
  }
  if (mode === 'attach' && data !== undefined) return <ChoosePageDialog slug={slug} skill={data.detail} onClose={() => setMode('read')} />;
  if (reviewed !== undefined && data !== undefined) {
    const mayApprove = data.detail.may_approve;
    const close = () => setReviewed(undefined);
    const resolve = (conflict: string) => {
      setUnmerged({ conflict, title: reviewed.title, note: reviewed.note });
      setMode('propose');
      close();
    };
    return <ChangeDialog slug={slug} change={reviewed} mayApprove={mayApprove} onResolve={resolve} onClose={close} />;
  }
  return (
    <Dialog title={data?.detail.name ?? skills.title} wide onClose={onClose}>
      <Loaded of={loaded} shape="block" missing={skills.missing}>
        {(read) => (
          <Reading slug={slug} read={read} onAttach={() => setMode('attach')} onPropose={() => setMode('propose')} onReview={setReviewed} />
        )}
      </Loaded>
    </Dialog>
  );
}

interface ReadingProps {
  readonly slug: string;
  readonly onAttach: () => void;
  readonly read: ReadSkill;
  readonly onPropose: () => void;
  readonly onReview: (change: SkillChange) => void;
}

function Reading({ slug, read: { detail, markdown }, onAttach, onPropose, onReview }: ReadingProps) {
  const { skills } = words.value;
  return (
    <>
      <p class="soft">{detail.description}</p>
      <Markdown text={bodyOf(markdown)} />
      <SkillUses slug={slug} skill={detail} onChoose={onAttach} />
      <Changes skillId={detail.id} onReview={onReview} />
      <div class="dialog-foot">
        <LinkButton icon="external" href={detail.url} target="_blank" rel="noopener">
          {skills.page}
        </LinkButton>
        <Button look="main" icon="pen" onClick={onPropose}>
          {skills.propose}
        </Button>
      </div>
    </>
  );
}

function Changes({ skillId, onReview }: { readonly skillId: string; readonly onReview: (change: SkillChange) => void }) {
  const pages = useChanges(skillId);
  const { skills, versions } = words.value;
  return (
    <section class="part" aria-labelledby="changes">
      <div class="section-head">
        <h3 id="changes">{skills.changes}</h3>
      </div>
      {pages.items?.length === 0 && <p class="soft small">{skills.noChanges}</p>}
      {pages.items !== undefined && pages.items.length > 0 && (
        <ul class="rows">
          {pages.items.map((change) => (
            <li key={change.id} class="row-item">
              <div class="grow">
                <p class="row-title">{change.title}</p>
                <p class="row-facts">
                  <span>{change.author?.name ?? versions.somebody}</span>
                  <Time at={change.created_at} />
                  <Tag tone={change.status === 'open' ? 'warn' : 'plain'}>{skills.status[change.status]}</Tag>
                </p>
              </div>
              <Button small aria-label={skills.reviewChange(change.title)} onClick={() => onReview(change)}>
                {skills.review}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}
