/** The app reads the marks that the service makes in a text with conflicts. */
import { expect, it } from 'vitest';
import { Failure } from '../../protocol/core/errors.ts';
import { hasMarks, partsOfConflict } from '../../src/clients/web/screens/workspace/skills/conflict.ts';
import { mergeSources } from '../../src/features/library/skills/merge.ts';

function conflictOf(live: string, base: string, proposed: string): string {
  try {
    mergeSources(live, base, proposed);
  } catch (error) {
    if (error instanceof Failure) return error.details.conflict ?? '';
    throw error;
  }
  throw new Error('nothing is in conflict');
}

it('both sides, and what is around them, are told apart', () => {
  const conflict = conflictOf('---\na\n---\n- ours\nend\n', '---\na\n---\n- base\nend\n', '---\na\n---\nend\n');
  expect(partsOfConflict(conflict)).toEqual([
    { kind: 'same', lines: ['---', 'a', '---'] },
    { kind: 'conflict', live: ['- ours'], proposed: [] },
    { kind: 'same', lines: ['end'] },
  ]);
});

it('lines of the text that look like marks are lines', () => {
  const ours = ['<<<<<<< live version', 'Title', '=======', '>>>>>>> proposed change'];
  const conflict = conflictOf(`${ours.join('\n')}\n`, 'base\n', 'Title\n========\n');
  expect(partsOfConflict(conflict)).toEqual([{ kind: 'conflict', live: ours, proposed: ['Title', '========'] }]);
  expect(hasMarks(conflict, conflict)).toBe(true);
  expect(hasMarks(`${ours.join('\n')}\n`, conflict)).toBe(false);
});
