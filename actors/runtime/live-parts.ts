/** The parts of one actor, each under the name of its kind. */
import type { AnyKind, DepsOf, ImageOf, LivePart, PartOf } from './live-kind.ts';

type Kinds = Readonly<Record<string, AnyKind>>;
type Ports<K extends Kinds> = Omit<DepsOf<K[keyof K]>, 'ledger'>;

interface Parts<K extends Kinds> {
  /** Estimated bytes of all parts in memory. */
  readonly partBytes: number;
  /** Creates the parts of restored kinds; the actor is their ledger. */
  restoreParts(image: ImageOf<K[keyof K]>): void;
  trimParts(): void;
  sweepParts(): void;
}

type PartsClass<K extends Kinds> = new (ports: Ports<K>) => Parts<K> & { readonly [Name in keyof K]: PartOf<K[Name]> };

/**
 * Base class of an actor with these kinds. Once created, a part is an own property, so that reading it costs no more than any property
 * read; until then, an opened kind is a getter that creates the part.
 */
export function partsOf<K extends Kinds>(kinds: K): PartsClass<K> {
  const restored = Object.entries(kinds).flatMap(([name, kind]) => ('restore' in kind ? [{ name, kind }] : []));
  const names = restored.map(({ name }) => name);

  class LiveParts {
    readonly #ports: object;
    /** Parts of opened kinds that have been created. */
    #opened: LivePart[] | undefined;

    constructor(ports: object) {
      this.#ports = ports;
    }

    static {
      for (const [name, kind] of Object.entries(kinds)) {
        if (!('open' in kind)) continue;
        const get = function (this: LiveParts): LivePart {
          const part = kind.open(this.#deps());
          this.#opened = [...(this.#opened ?? []), part];
          Object.defineProperty(this, name, { value: part });
          return part;
        };
        Object.defineProperty(LiveParts.prototype, name, { get });
      }
    }

    get partBytes(): number {
      const parts = this.#restored();
      let bytes = 0;
      for (const name of names) bytes += (parts[name] as LivePart).residentBytes;
      if (this.#opened !== undefined) for (const part of this.#opened) bytes += part.residentBytes;
      return bytes;
    }

    restoreParts(image: never): void {
      const deps = this.#deps();
      const parts = this.#restored();
      for (const { name, kind } of restored) parts[name] = kind.restore(deps, image);
    }

    trimParts(): void {
      this.#each((part) => part.trim?.());
    }

    sweepParts(): void {
      this.#each((part) => part.sweep?.());
    }

    #each(tell: (part: LivePart) => void): void {
      const parts = this.#restored();
      for (const name of names) tell(parts[name] as LivePart);
      for (const part of this.#opened ?? []) tell(part);
    }

    /** The actor itself, read by property name. A separate list of the parts would cost memory in every one of very many actors. */
    #restored(): Record<string, LivePart> {
      return this as unknown as Record<string, LivePart>;
    }

    #deps(): never {
      return { ...this.#ports, ledger: this } as never;
    }
  }
  // The compiler does not see properties that are made by name.
  return LiveParts as unknown as PartsClass<K>;
}
