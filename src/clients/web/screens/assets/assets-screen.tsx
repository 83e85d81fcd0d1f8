/** One's own files. */
import { useTitle } from '../../state/window.ts';
import { Head } from '../../ui/small.tsx';
import { words } from '../../words/words.ts';
import { AssetsPart } from './assets-part.tsx';

export function AssetsScreen() {
  const { assets } = words.value;
  useTitle(assets.mine);
  return (
    <>
      <Head title={assets.mine} />
      <AssetsPart />
    </>
  );
}
