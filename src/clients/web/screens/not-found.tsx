import { useTitle } from '../state/window.ts';
import { LinkButton } from '../ui/button.tsx';
import { Empty } from '../ui/states.tsx';
import { words } from '../words/words.ts';

export function NotFound() {
  const { problems, nav } = words.value;
  useTitle(problems.missing.title);
  return (
    <Empty icon="search" {...problems.missing}>
      <LinkButton href="/">{nav.mine}</LinkButton>
    </Empty>
  );
}
