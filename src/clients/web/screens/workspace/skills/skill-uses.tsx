/** What a skill is attached to: its workspace as a whole, and pages. */
import { useState } from 'preact/hooks';
import type { SkillDetail, SkillUse } from '../../../api/client.ts';
import { mayManage } from '../../../state/place.ts';
import { turnForAll, turnForPage, useSkillUses } from '../../../state/skills.ts';
import { Button } from '../../../ui/button.tsx';
import { Tag, Time } from '../../../ui/small.tsx';
import { ProblemNote, Skeleton } from '../../../ui/states.tsx';
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
