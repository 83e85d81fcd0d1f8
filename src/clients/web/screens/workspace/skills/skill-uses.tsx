/** What a skill is attached to: its workspace as a whole, and pages. */
import { useState } from 'preact/hooks';
import type { Artifact, SkillDetail, SkillUse } from '../../../api/client.ts';
import { useArtifacts } from '../../../state/loads.ts';
import { mayManage } from '../../../state/place.ts';
import { turnForAll, turnForPage, useSkills, useSkillUses } from '../../../state/skills.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/fields.tsx';
import { Tag, Time } from '../../../ui/small.tsx';
import { Empty, ProblemNote, Skeleton } from '../../../ui/states.tsx';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';

interface UsesProps {
  readonly slug: string;
  readonly skill: SkillDetail;
  readonly onChoose: () => void;
}

export function SkillUses({ slug, skill, onChoose }: UsesProps) {
  const { facts, pages } = useSkillUses(skill.id);
  const { skills } = words.value;
  const isForAll = facts?.workspace === true;
  const { items, problem, reload } = pages;
  return (
    <section class="part" aria-labelledby="skill-uses">
      <div class="section-head">
        <h3 id="skill-uses">{skills.uses}</h3>
        <Button small icon="plus" onClick={onChoose}>
          {skills.attachToPage}
        </Button>
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={1} />}
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={reload} />}
      {items?.length === 0 && !isForAll && <p class="soft small">{skills.usedNowhere}</p>}
      {items !== undefined && (items.length > 0 || isForAll || mayManage(slug)) && (
        <ul class="rows">
          {(isForAll || mayManage(slug)) && <WholeWorkspace slug={slug} skill={skill} isForAll={isForAll} />}
          {items.map((use) => (
            <PageUse key={use.id} skill={skill} use={use} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

interface WholeProps {
  readonly slug: string;
  readonly skill: SkillDetail;
  readonly isForAll: boolean;
}

function WholeWorkspace({ slug, skill: { id, name }, isForAll }: WholeProps) {
  const [isBusy, setBusy] = useState(false);
  const { skills } = words.value;
  const turn = async () => {
    setBusy(true);
    await turnForAll(slug, { id, name, attached: isForAll });
    setBusy(false);
  };
  return (
    <li class="row-item">
      <p class="row-title grow">
        <span>{skills.attached}</span> {isForAll && <Tag tone="good">{skills.isAttached}</Tag>}
      </p>
      {mayManage(slug) && (
        <Button
          small
          aria-label={isForAll ? skills.detachFromAllOf(name) : skills.attachToAllOf(name)}
          isBusy={isBusy}
          onClick={() => void turn()}
        >
          {isForAll ? skills.detach : skills.attachOne}
        </Button>
      )}
    </li>
  );
}

function PageUse({ skill, use }: { readonly skill: SkillDetail; readonly use: SkillUse }) {
  const [isBusy, setBusy] = useState(false);
  const { skills } = words.value;
  const detach = async () => {
    setBusy(true);
    await turnForPage('detach', use.id, skill.id, skills.detachedFrom(skill.name, use.name));
    setBusy(false);
  };
  return (
    <li class="row-item">
      <div class="grow">
        <p class="row-title">
          <a href={`/p/${use.id}`}>{use.name}</a>
        </p>
        <p class="row-facts">
          <Time at={use.attached_at} />
        </p>
      </div>
      {use.may_detach && (
        <Button small aria-label={skills.detachFrom(use.name)} isBusy={isBusy} onClick={() => void detach()}>
          {skills.detach}
        </Button>
      )}
    </li>
  );
}

interface ChooseProps {
  readonly slug: string;
  readonly skill: SkillDetail;
  readonly onClose: () => void;
}

/** Pages of the workspace. Lists do not say which of them the reader may change; the server refuses the others. */
export function ChoosePageDialog({ slug, skill, onClose }: ChooseProps) {
  const [text, setText] = useState('');
  const pages = useArtifacts({ kind: 'workspace', slug }, text.trim());
  const uses = useSkillUses(skill.id).pages.items ?? [];
  const others = new Set((useSkills(slug).items ?? []).map(({ artifact_id }) => artifact_id as string));
  const { skills, app } = words.value;
  const { items, problem, reload } = pages;
  const shown = items?.filter(({ id }) => id !== skill.artifact_id && !others.has(id));
  return (
    <Dialog title={skills.attachTitle(skill.name)} wide onClose={onClose}>
      <TextField label={skills.findPage} value={text} onText={setText} maxLength={100} autoFocus />
      {shown === undefined && problem === undefined && <Skeleton shape="line" count={3} />}
      {shown === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={reload} />}
      {shown?.length === 0 && !pages.hasMore && <Empty icon="page" {...skills.noPages} />}
      {shown !== undefined && shown.length > 0 && (
        <ul class="rows">
          {shown.map((page) => (
            <PageChoice key={page.id} skill={skill} page={page} isAttached={uses.some(({ id }) => id === page.id)} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      <div class="dialog-foot">
        <Button look="main" onClick={onClose}>
          {app.done}
        </Button>
      </div>
    </Dialog>
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
