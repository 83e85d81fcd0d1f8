/** A live kind is made, weighed and told of commits because it is in the list, whatever it is. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { deletionsOf, LIVE_KINDS, valueBytes } from '../../../actors/kinds.ts';
import type { Ledger, LivePart, OpenedKind, RestoredKind } from '../../../actors/runtime/live-kind.ts';
import { partsOf } from '../../../actors/runtime/live-parts.ts';

interface NoteChange {
  readonly kind: 'note.put' | 'note.delete';
  readonly text: string;
}

interface NoteDeps {
  readonly ledger: Pick<Ledger<NoteChange>, 'record'>;
  readonly store: { readNote(): string };
}

class NotesPart implements LivePart {
  readonly deps: NoteDeps;
  readonly told: string[] = [];
  residentBytes: number;

  constructor(deps: NoteDeps, residentBytes: number) {
    this.deps = deps;
    this.residentBytes = residentBytes;
  }

  trim(): void {
    this.told.push('trim');
  }

  sweep(): void {
    this.told.push('sweep');
  }
}

const changes = { 'note.put': 'put', 'note.delete': 'deletion' } as const;
const kept: RestoredKind<NoteChange, { readonly notes: number }, NoteDeps, NotesPart> = {
  changes,
  valueBytes: ({ text }) => text.length,
  restore: (deps, { notes }) => new NotesPart(deps, notes),
};
const rare: OpenedKind<NoteChange, NoteDeps, NotesPart> = { changes, valueBytes: () => 0, open: (deps) => new NotesPart(deps, 5) };
const ports = { store: { readNote: () => 'a note' } };

describe('the parts of an actor', () => {
  class Actor extends partsOf({ kept, rare }) {
    record(): void {
      this.kept.told.push('record');
    }
  }
  const restored = () => {
    const actor = new Actor(ports);
    actor.restoreParts({ notes: 100 });
    return actor;
  };

  it('have the names of their kinds and the types of their parts', () => {
    expectTypeOf(restored().kept).toEqualTypeOf<NotesPart>();
    expectTypeOf(restored().rare).toEqualTypeOf<NotesPart>();
  });

  it('get the ports, and their actor as the ledger', () => {
    const { kept: part } = restored();
    part.deps.ledger.record({ kind: 'note.put', text: '', seq: 1 });
    expect([part.deps.store.readNote(), part.told]).toEqual(['a note', ['record']]);
  });

  it('of an opened kind are made when they are first asked for, and once', () => {
    const actor = restored();
    expect([actor.partBytes, Object.keys(actor)]).toEqual([100, ['kept']]);
    const { rare: part } = actor;
    expect([actor.rare === part, actor.partBytes]).toEqual([true, 105]);
    part.residentBytes = 7;
    expect(actor.partBytes).toBe(107);
  });

  it('are told of commits and sweeps, those that there are', () => {
    const actor = restored();
    actor.trimParts();
    const { rare: part } = actor;
    actor.sweepParts();
    expect([actor.kept.told, part.told]).toEqual([['trim', 'sweep'], ['sweep']]);
  });
});

describe('the list of live kinds', () => {
  it('names each change once', () => {
    const names = Object.values(LIVE_KINDS).flatMap((kind) => Object.keys(kind.changes));
    expect(new Set(names).size).toBe(names.length);
  });

  it('says which changes leave a tombstone', () => {
    expect([deletionsOf('json'), deletionsOf('tables'), deletionsOf('comments')]).toEqual([
      ['json.delete'],
      ['table.drop', 'row.delete'],
      ['comment.delete'],
    ]);
  });

  it('weighs a change by its value', () => {
    const times = { createdAtMs: 0, updatedAtMs: 0 };
    expect(valueBytes({ seq: 1, kind: 'json.put', key: 'k', value: '12345', expiresAtMs: null, ...times })).toBe(5);
    expect(valueBytes({ seq: 1, kind: 'doc.update', doc: 'd', update: new Uint8Array(9), by: null, atMs: 0 })).toBe(9);
    expect(valueBytes({ seq: 1, kind: 'json.delete', key: 'k', atMs: 0 })).toBe(0);
  });
});
