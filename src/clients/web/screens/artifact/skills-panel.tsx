/** The skills attached to the page: what agents are to read before they work on it. */
import { useState } from 'preact/hooks';
import type { Artifact, AttachedSkill, Skill } from '../../api/client.ts';
import { seatIn } from '../../state/place.ts';
import { turnForPage, useAttached, useSkills } from '../../state/skills.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Tag } from '../../ui/small.tsx';
import { Empty, ProblemNote, Skeleton } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { mayEdit } from './rights.ts';

/** Nothing outside of workspaces, which skills belong to. */
export function SkillsPanel({ artifact }: { readonly artifact: Artifact }) {
  return artifact.workspace_id === null ? null : <Attached artifact={artifact} workspaceId={artifact.workspace_id} />;
}

interface AttachedProps {
  readonly artifact: Artifact;
  readonly workspaceId: string;
}

function Attached({ artifact, workspaceId }: AttachedProps) {
  const pages = useAttached(artifact.id);
  const [isChoosing, setChoosing] = useState(false);
  const { skills } = words.value;
  // Who is not in the workspace has no list to choose from.
  const seat = seatIn(workspaceId);
  const mayAttach = mayEdit(artifact) && seat !== undefined;
  const { items, problem, reload } = pages;
  if (!mayAttach && (items === undefined || items.length === 0)) return null;
  const detach = ({ id, name }: AttachedSkill) => turnForPage('detach', artifact.id, id, skills.detached(name));
  return (
    <section class="panel" aria-labelledby="attached-skills">
      <div class="row">
        <h2 id="attached-skills" class="grow">
          {skills.title}
        </h2>
        {mayAttach && (
          <Button small icon="plus" onClick={() => setChoosing(true)}>
            {skills.attach}
          </Button>
        )}
      </div>
      <p class="soft small">{skills.ofPage}</p>
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={reload} />}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((skill) => (
            <li key={skill.id} class="row-item">
              <div class="grow">
                <p class="row-title">{seat === undefined ? skill.name : <a href={`/w/${seat.slug}/skills/${skill.id}`}>{skill.name}</a>}</p>
                <p class="row-note">{skill.description}</p>
              </div>
              {mayEdit(artifact) && (
                <Button small aria-label={skills.detachOf(skill.name)} onClick={() => void detach(skill)}>
                  {skills.detach}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      <More pages={pages} />
      {isChoosing && seat !== undefined && (
        <ChooseDialog artifactId={artifact.id} slug={seat.slug} attached={items ?? []} onClose={() => setChoosing(false)} />
      )}
    </section>
  );
}

interface ChooseProps {
  readonly artifactId: string;
  readonly slug: string;
  readonly attached: readonly AttachedSkill[];
  readonly onClose: () => void;
}

function ChooseDialog({ artifactId, slug, attached, onClose }: ChooseProps) {
  const pages = useSkills(slug);
  const [busy, setBusy] = useState<string>();
  const { skills, app } = words.value;
  const { items, problem, reload } = pages;
  const attach = async ({ id, name }: Skill) => {
    setBusy(id);
    await turnForPage('attach', artifactId, id, skills.attachedNow(name));
    setBusy(undefined);
  };
  return (
    <Dialog title={skills.attach} wide onClose={onClose}>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={reload} />}
      {items?.length === 0 && <Empty icon="book" {...skills.empty} />}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((skill) => (
            <li key={skill.id} class="row-item">
              <div class="grow">
                <p class="row-title">{skill.name}</p>
                <p class="row-note">{skill.description}</p>
                {skill.attached && (
                  <p class="row-facts">
                    <Tag>{skills.attached}</Tag>
                  </p>
                )}
              </div>
              {attached.some(({ id }) => id === skill.id) ? (
                <Tag icon="check" tone="good">
                  {skills.isAttached}
                </Tag>
              ) : (
                <Button
                  small
                  aria-label={skills.attachOf(skill.name)}
                  isBusy={busy === skill.id}
                  disabled={busy !== undefined}
                  onClick={() => void attach(skill)}
                >
                  {skills.attachOne}
                </Button>
              )}
            </li>
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
