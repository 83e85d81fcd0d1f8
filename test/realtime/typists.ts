/** Clients that type into documents of a running service and record exactly what it acknowledged as durable. */
import type { Random } from '../support/random.ts';
import { type Client, join, PROVIDER_KINDS, type Where } from './providers.ts';

/** Every piece of text is unique and has this form. */
const PIECE = /\[\d{4}-\d{5}\]/g;
const PIECE_CHARS = '[0001-00001]'.length;
const BURST_MAX = 3;

function piecesOf(text: string): readonly string[] {
  return text.match(PIECE) ?? [];
}

export class Typist {
  readonly client: Client;
  readonly document: string;
  readonly #name: string;
  #typed = 0;

  constructor(where: Where, kind: Client['kind'], number: number) {
    this.document = where.document;
    this.client = join(kind, where);
    this.#name = String(number).padStart(4, '0');
  }

  get typed(): readonly string[] {
    return Array.from({ length: this.#typed }, (_, i) => this.#piece(i));
  }

  get acknowledged(): readonly string[] {
    return this.typed.slice(0, Math.floor(this.client.durableClock / PIECE_CHARS));
  }

  /** Types a few pieces at a random place, waits until they are durable, and repeats until `signal`. */
  async run(random: Random, signal: AbortSignal, acknowledged: (pieces: number) => void): Promise<void> {
    await this.client.until(({ isSaved }) => isSaved || signal.aborted);
    while (!signal.aborted) {
      const burst = 1 + random.integer(BURST_MAX);
      for (let i = 0; i < burst; i += 1) {
        // Between two pieces, so that each stays whole.
        const places = Math.floor(this.client.text.length / PIECE_CHARS) + 1;
        this.client.text.insert(random.integer(places) * PIECE_CHARS, this.#piece(this.#typed));
        this.#typed += 1;
      }
      await this.client.until(({ durableClock }) => durableClock >= this.#typed * PIECE_CHARS || signal.aborted);
      if (!signal.aborted) acknowledged(burst);
    }
  }

  #piece(i: number): string {
    return `[${this.#name}-${String(i + 1).padStart(5, '0')}]`;
  }
}

export interface Place {
  readonly artifactId: string;
  readonly token: string;
  readonly document: string;
}

/** Typists at several documents, one of every kind of provider at each. */
export class Typists {
  #all: Typist[];
  readonly #places: readonly Place[];
  readonly #baseUrls: readonly string[];
  readonly #random: Random;
  #made = 0;
  #running: readonly Promise<void>[] = [];
  #goneTyped = 0;
  #goneAcknowledged = 0;
  /** The pieces of all typists, including those who left. */
  typed = 0;
  acknowledged = 0;

  /** `baseUrls`: of one program, or of the nodes of a cluster, among which the typists choose. */
  constructor(baseUrls: string | readonly string[], places: readonly Place[], random: Random) {
    this.#baseUrls = [baseUrls].flat();
    this.#places = places;
    this.#random = random;
    this.#all = places.flatMap((place) => PROVIDER_KINDS.map((kind) => this.#make(place, kind)));
  }

  get count(): number {
    return this.#all.length;
  }

  /** All type until so many pieces are acknowledged; then `crash` runs, and all stay disconnected. */
  async typeUntil(pieces: number, crash: () => Promise<unknown>): Promise<void> {
    const stopped = new AbortController();
    let left = pieces;
    const enough = new Promise<void>((resolve) => {
      const acknowledged = (more: number) => {
        left -= more;
        if (left <= 0) resolve();
      };
      this.#running = this.#all.map((typist) => typist.run(this.#random, stopped.signal, acknowledged));
    });
    await enough;
    await crash();
    stopped.abort();
    for (const { client } of this.#all) client.look();
    await Promise.all(this.#running);
    for (const { client } of this.#all) client.disconnect();
  }

  /**
   * Compares the documents that a new client loads with the acknowledged pieces. Then some typists leave for good, the others reconnect, and
   * all copies must be equal. Returns the problems found.
   */
  async findFaults(): Promise<readonly string[]> {
    const faults: string[] = [];
    for (const place of this.#places) {
      const here = this.#all.filter(({ document }) => document === place.document);
      faults.push(...(await this.#faultsAt(place, here)));
    }
    this.typed = this.#all.reduce((sum, { typed }) => sum + typed.length, this.#goneTyped);
    this.acknowledged = this.#all.reduce((sum, { acknowledged }) => sum + acknowledged.length, this.#goneAcknowledged);
    return faults;
  }

  close(): void {
    for (const { client } of this.#all) client.close();
  }

  async #faultsAt(place: Place, here: readonly Typist[]): Promise<readonly string[]> {
    const probe = join(this.#random.pick(PROVIDER_KINDS), { ...place, baseUrl: this.#random.pick(this.#baseUrls) });
    await probe.until(({ isSynced }) => isSynced);
    const stored = probe.text.toString();
    const faults = [
      ...doubled(stored).map((piece) => `${place.document}: ${piece} is there twice after the crash`),
      ...here
        .flatMap(({ acknowledged }) => acknowledged)
        .flatMap((piece) => (stored.includes(piece) ? [] : [`${place.document}: ${piece} is lost`])),
    ];
    const staying = here.filter((typist) => !this.#random.chance(0.25) || !this.#replace(typist, place));
    // Edits that others received before they were durable return with those clients, whoever typed them.
    const expected = new Set([stored, ...staying.map(({ client }) => client.text.toString())].flatMap(piecesOf));
    for (const { client } of staying) client.connect();
    const clients = [probe, ...staying.map(({ client }) => client)];
    // There may be more connections: a provider of Hocuspocus 3 that is closed while it waits to reconnect does so once more.
    const haveSame = () => {
      const whole = probe.text.toString();
      return whole.length >= expected.size * PIECE_CHARS && clients.every(({ text }) => text.toString() === whole);
    };
    await Promise.race(clients.map((client) => client.until(haveSame)));
    const whole = probe.text.toString();
    faults.push(...doubled(whole).map((piece) => `${place.document}: ${piece} is there twice`));
    faults.push(...[...expected].filter((piece) => !whole.includes(piece)).map((piece) => `${place.document}: ${piece} did not come back`));
    probe.close();
    return faults;
  }

  #replace(typist: Typist, place: Place): boolean {
    this.#goneTyped += typist.typed.length;
    this.#goneAcknowledged += typist.acknowledged.length;
    typist.client.close();
    this.#all = this.#all.map((each) => (each === typist ? this.#make(place, typist.client.kind) : each));
    return true;
  }

  #make(place: Place, kind: Client['kind']): Typist {
    this.#made += 1;
    return new Typist({ ...place, baseUrl: this.#baseUrls[this.#made % this.#baseUrls.length] ?? '' }, kind, this.#made);
  }
}

function doubled(text: string): readonly string[] {
  const seen = new Set<string>();
  const twice: string[] = [];
  const pieces = piecesOf(text);
  for (const piece of pieces) {
    if (seen.has(piece)) twice.push(piece);
    seen.add(piece);
  }
  if (pieces.length * PIECE_CHARS !== text.length) twice.push('a torn piece');
  return twice;
}
