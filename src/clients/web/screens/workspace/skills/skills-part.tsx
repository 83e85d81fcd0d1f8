/** The skills of a workspace. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Skill } from '../../../api/client.ts';
import { mayManage } from '../../../state/place.ts';
import { turnForAll, useSkills } from '../../../state/skills.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Tag, Time } from '../../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../../ui/states.tsx';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';
import { NewSkillDialog } from './new-skill-dialog.tsx';
import { SkillDialog } from './skill-dialog.tsx';

interface SkillsPartProps {
  readonly slug: string;
  /** The one whose dialog is open. */
  readonly skillId?: string | undefined;
}

export function SkillsPart({ slug, skillId }: SkillsPartProps) {
  const pages = useSkills(slug);
  const { route } = useLocation();
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
            <SkillRow key={skill.id} slug={slug} skill={skill} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {skillId !== undefined && <SkillDialog key={skillId} slug={slug} skillId={skillId} onClose={() => route(`/w/${slug}/skills`)} />}
      {isMaking && <NewSkillDialog slug={slug} onClose={() => setMaking(false)} />}
    </div>
  );
}

function SkillRow({ slug, skill }: { readonly slug: string; readonly skill: Skill }) {
  const [isBusy, setBusy] = useState(false);
  const { skills } = words.value;
  const { id, name, description, version_no, updated_at, attached } = skill;
  const turn = async () => {
    setBusy(true);
    await turnForAll(slug, skill);
    setBusy(false);
  };
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
      {mayManage(slug) && (
        <Button
          small
          look="quiet"
          aria-label={attached ? skills.detachFromAllOf(name) : skills.attachToAllOf(name)}
          isBusy={isBusy}
          onClick={() => void turn()}
        >
          {attached ? skills.detach : skills.attachToAll}
        </Button>
      )}
      <LinkButton small href={`/w/${slug}/skills/${id}`} aria-label={skills.readSkill(name)}>
        {skills.read}
      </LinkButton>
    </li>
  );
}
