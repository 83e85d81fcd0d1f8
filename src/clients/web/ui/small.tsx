/** Small parts of many screens. */
import type { ComponentChildren } from 'preact';
import type { Artifact } from '../api/client.ts';
import { ago, dateText } from '../words/format.ts';
import { words } from '../words/words.ts';
import { Icon, type IconName } from './icon.tsx';

export function Tag({
  tone = 'plain',
  icon,
  children,
}: {
  readonly tone?: 'plain' | 'good' | 'warn' | 'info' | 'accent';
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}) {
  return (
    <span class={`tag is-${tone}`}>
      {icon && <Icon name={icon} size={13} />}
      {children}
    </span>
  );
}

export const VISIBILITY_ICONS = { private: 'lock', workspace: 'people', password: 'key', public: 'globe' } as const satisfies Record<
  Artifact['visibility'],
  IconName
>;

export function VisibilityTag({ visibility }: Pick<Artifact, 'visibility'>) {
  return (
    <Tag tone={visibility === 'public' ? 'good' : 'plain'} icon={VISIBILITY_ICONS[visibility]}>
      {words.value.visibility[visibility].name}
    </Tag>
  );
}

export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={dateText(at)}>
      {ago(at)}
    </time>
  );
}

const AVATAR_TONES = 6;

/** The first letters of a name, on a colour that follows from it. They are decoration, so no text of the document. */
export function Avatar({ name, isSquare = false }: { readonly name: string; readonly isSquare?: boolean }) {
  const letters = name
    .split(/[\s@._-]+/u)
    .filter(Boolean)
    .slice(0, 2)
    .map((part) => [...part][0]?.toUpperCase() ?? '')
    .join('');
  const tone = [...name].reduce((sum, char) => sum + (char.codePointAt(0) ?? 0), 0) % AVATAR_TONES;
  return <span class={`avatar tone-${tone}${isSquare ? ' is-square' : ''}`} aria-hidden="true" data-letters={letters || '·'} />;
}

/** The head of a screen: title, what is beside it, and what can be done. */
export function Head({
  title,
  text,
  children,
  above,
}: {
  readonly title: ComponentChildren;
  readonly text?: ComponentChildren;
  readonly children?: ComponentChildren;
  readonly above?: ComponentChildren;
}) {
  return (
    <div class="screen-head">
      <div class="grow">
        {above}
        <h1>{title}</h1>
        {text && <p class="soft">{text}</p>}
      </div>
      {children && <div class="row">{children}</div>}
    </div>
  );
}

/** To where the plan of a workspace is changed, given by its slug or id; without one, to those of all one's workspaces. */
export function PlanLink({ workspace }: { readonly workspace: string | null }) {
  return <a href={workspace === null ? '/my/billing' : `/w/${workspace}/billing`}>{words.value.problems.plan.link}</a>;
}
