/** Changes by filter whose table disappears between the look at its rows and the turn. */
import { expect, it } from 'vitest';
import { DeleteMatching, PatchMatching, type ReadMatching } from '../../../actors/tables/held-table.ts';
import { DropTable, InsertRows } from '../../../actors/tables/table-operations.ts';
import { perform, performInPieces } from '../../../src/features/data/tables/perform.ts';
import { type Stage, setStage } from '../runtime/runtime-fixture.ts';

const mayWrite = () => undefined;
const TURNS_MAX = 10;

/** The runtime of the stage, which throws where an operation asks for turns without end. */
function bounded({ runtime }: Stage): Pick<Stage['runtime'], 'ask'> {
  let turns = 0;
  return {
    ask: (...call) => {
      turns += 1;
      if (turns > TURNS_MAX) throw new Error(`more than ${TURNS_MAX} turns`);
      return runtime.ask(...call);
    },
  };
}

it.each([
  ['DeleteMatching', (matching: ReadMatching) => new DeleteMatching('t', matching, mayWrite)],
  ['PatchMatching', (matching: ReadMatching) => new PatchMatching('t', matching, { n: 2 }, mayWrite)],
])('[dropped meanwhile] %s changes nothing and ends when another owner has dropped the table', async (_name, change) => {
  const stage = setStage();
  const { runtime, id, another } = stage;
  const { rows } = await perform(runtime, id, new InsertRows('t', [{ n: 1 }], { isMany: false, mayWrite }));
  const operation = change(async function* () {
    yield rows;
    await perform(another(), id, new DropTable('t', mayWrite));
    void runtime.discard(id);
  });
  expect(await performInPieces(bounded(stage), id, operation)).toBe(0);
});
