/** The search of Yjs for the place of a concurrent insert: bounded where an update was made to make it long, and never changed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { ConflictBudget, TooManyConflicts } from '../../../actors/documents/conflict-scan.ts';
import { itemsAtOnePlace } from '../../support/crafted-updates.ts';
import { codeOf, setStage } from '../runtime/runtime-fixture.ts';
import { textOf, typist } from './documents-fixture.ts';

const ATTACK_ITEMS = 3000;
/** Each value of a key takes a walk over those before it. */
const ATTACK_VALUES = 600;

function applied(budget: ConflictBudget, doc: Y.Doc, update: Uint8Array): void {
  budget.within(() => Y.applyUpdate(doc, update));
}

interface Change {
  readonly at: number;
  readonly removes: boolean;
  readonly text: string;
}

function edit(author: Y.Doc, { at, removes, text }: Change): void {
  const typed = author.getText('t');
  if (removes && typed.length > 0) typed.delete(at % typed.length, 1);
  else typed.insert(at % (typed.length + 1), text);
  author.getMap('m').set(text, at);
}

describe('the budget of conflicts', () => {
  it.each([
    ['characters at one place', ATTACK_ITEMS, undefined],
    ['values of one key', ATTACK_VALUES, 'key'],
  ])('ends an update of many %s beside others there', (_what, items, key) => {
    let nowMs = 0;
    const budget = new ConflictBudget(() => nowMs);
    const doc = new Y.Doc();
    applied(budget, doc, itemsAtOnePlace(1, items, 't', key));
    expect(() => applied(budget, doc, itemsAtOnePlace(2, items, 't', key))).toThrow(TooManyConflicts);
    // What is left after it is not enough for a small one; a while later it is.
    const few = itemsAtOnePlace(3, 1, 't', key);
    const again = new Y.Doc();
    Y.applyUpdate(again, itemsAtOnePlace(1, items, 't', key));
    expect(() => applied(budget, again, few)).toThrow(expect.objectContaining({ isHopeless: false }));
    nowMs += 10_000;
    applied(budget, again, few);
  });

  it('leaves every document as Yjs alone makes it, whatever was typed at once', () => {
    const edits = fc.record({ who: fc.nat(3), at: fc.nat(40), removes: fc.boolean(), text: fc.string({ minLength: 1, maxLength: 3 }) });
    fc.assert(
      fc.property(fc.array(fc.array(edits, { maxLength: 12 }), { maxLength: 5 }), (rounds) => {
        const authors = [1, 2, 3, 4].map((clientID) => Object.assign(new Y.Doc(), { clientID }));
        const guarded = new Y.Doc();
        const plain = new Y.Doc();
        const budget = new ConflictBudget(() => 0);
        for (const round of rounds) {
          for (const { who, ...change } of round) edit(authors[who] ?? plain, change);
          for (const author of authors) {
            const update = Y.encodeStateAsUpdate(author);
            applied(budget, guarded, update);
            Y.applyUpdate(plain, update);
          }
          for (const author of authors) Y.applyUpdate(author, Y.encodeStateAsUpdate(plain));
        }
        expect(guarded.getText('t').toString()).toBe(plain.getText('t').toString());
        expect(Buffer.from(Y.encodeStateAsUpdate(guarded)).equals(Y.encodeStateAsUpdate(plain))).toBe(true);
      }),
    );
  });
});

it('a live document refuses such an update, and stays as it is stored', async () => {
  const { runtime, id, store } = setStage();
  const { send } = typist(runtime, id);
  await send(itemsAtOnePlace(1, ATTACK_ITEMS, 't'));
  expect(await codeOf(() => send(itemsAtOnePlace(2, ATTACK_ITEMS, 't')))).toBe('INVALID_UPDATE');
  expect(await textOf(runtime, id)).toBe('x'.repeat(ATTACK_ITEMS));
  expect(store.of(id).log).toHaveLength(1);
  await runtime.stop();
});
