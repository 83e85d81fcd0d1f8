/** The skills of a workspace. */
import { useState } from 'preact/hooks';
import type { Skill } from '../../../api/client.ts';
import { useSkills } from '../../../state/skills.ts';
import { Button } from '../../../ui/button.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Tag, Time } from '../../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../../ui/states.tsx';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';
import { NewSkillDialog } from './new-skill-dialog.tsx';
import { SkillDialog } from './skill-dialog.tsx';

export function SkillsPart({ slug }: { readonly slug: string }) {
  const pages = useSkills(slug);
  const [opened, setOpened] = useState<Skill>();
  const [isMaking, setMaking] = useState(false);
  const { skills } = words.value;
  const { items, problem } = pages;
  return (
    <div class="narrow">
      <div class="section-head">
        <div class="grow">
          <h2>{skills.title}</h2>
          <p class="soft small">{skills.text}</p>
        </div>
        <Button icon="plus" onClick={() => setMaking(true)}>
          {skills.make}
        </Button>
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <Empty icon="book" {...skills.empty} />}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((skill) => (
            <SkillRow key={skill.id} skill={skill} onOpen={() => setOpened(skill)} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {opened !== undefined && <SkillDialog slug={slug} skill={opened} onClose={() => setOpened(undefined)} />}
      {isMaking && <NewSkillDialog slug={slug} onClose={() => setMaking(false)} />}
    </div>
  );
}

function SkillRow({ skill, onOpen }: { readonly skill: Skill; readonly onOpen: () => void }) {
  const { skills } = words.value;
  const { name, description, version_no, updated_at, attached } = skill;
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name="book" />
      </span>
      <div class="grow">
        <p class="row-title">{name}</p>
        <p class="row-note">{description}</p>
        <p class="row-facts">
          <span>{skills.version(version_no)}</span>
          <Time at={updated_at} />
          {attached && <Tag>{skills.attached}</Tag>}
        </p>
      </div>
      <Button small aria-label={skills.readSkill(name)} onClick={onOpen}>
        {skills.read}
      </Button>
    </li>
  );
}
