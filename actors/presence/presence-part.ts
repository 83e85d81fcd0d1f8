/** Who is here: the people connected to one artifact and what each shows of itself. Nothing of it is stored. */

/** As the server says it, never the client. */
export interface PresentPerson {
  readonly id: string;
  readonly name: string;
  readonly kind: 'human' | 'agent' | 'guest' | 'anonymous';
  readonly color: string;
}

interface Member {
  /** JSON of the person without the closing brace. */
  readonly personText: string;
  /** JSON. */
  stateText: string;
  /** Whether its arrival has been announced. */
  told: boolean;
}

type News = 'joined' | 'updated' | 'left';

/** JSON of nothing shown. */
const NO_STATE = 'null';

export class PresencePart {
  readonly #members = new Map<string, Member>();
  /** Since the last `take`, the oldest first. A later change of the same connection takes the place of an earlier one. */
  readonly #news = new Map<string, News>();
  #stateChars = 0;
  #everybody: string | undefined;

  get size(): number {
    return this.#members.size;
  }

  get hasNews(): boolean {
    return this.#news.size > 0;
  }

  join(connectionId: string, person: PresentPerson): void {
    const { id, name, kind, color } = person;
    const personText = JSON.stringify({ connectionId, id, name, kind, color }).slice(0, -1);
    // A member that left and came back before its leaving was announced is still known to the others.
    const told = this.#news.get(connectionId) === 'left';
    this.#members.set(connectionId, { personText, stateText: NO_STATE, told });
    this.#note(connectionId, 'joined');
  }

  /** How many characters all states would have with this one; undefined where the connection is not a member. */
  charsWith(connectionId: string, stateText: string): number | undefined {
    const member = this.#members.get(connectionId);
    return member && this.#stateChars - member.stateText.length + stateText.length;
  }

  /** `stateText`: JSON of an object, or of null. False where the connection is not a member. */
  show(connectionId: string, stateText: string): boolean {
    const member = this.#members.get(connectionId);
    if (member === undefined) return false;
    if (member.stateText === stateText) return true;
    this.#stateChars += stateText.length - member.stateText.length;
    member.stateText = stateText;
    this.#note(connectionId, this.#news.get(connectionId) ?? 'updated');
    return true;
  }

  leave(connectionId: string): void {
    const member = this.#members.get(connectionId);
    if (member === undefined) return;
    this.#members.delete(connectionId);
    this.#stateChars -= member.stateText.length - NO_STATE.length;
    this.#everybody = undefined;
    if (member.told) this.#note(connectionId, 'left');
    else this.#news.delete(connectionId);
  }

  /** JSON of all who are here; made once for everybody who asks before the next change. */
  everybody(): string {
    if (this.#everybody === undefined) {
      // The reader of the full list must also be notified when one of these members leaves.
      for (const member of this.#members.values()) member.told = true;
      this.#everybody = `{"people":[${[...this.#members.values()].map(textOf).join(',')}]}`;
    }
    return this.#everybody;
  }

  /** JSON of what has changed since the last call, the oldest first, about `charsMax` of it: call again where `hasNews` is still true. */
  take(charsMax: number): string {
    const joined: string[] = [];
    const updated: string[] = [];
    const left: string[] = [];
    let chars = 0;
    for (const [connectionId, news] of this.#news) {
      if (chars >= charsMax) break;
      this.#news.delete(connectionId);
      const member = this.#members.get(connectionId);
      const name = JSON.stringify(connectionId);
      let text = name;
      if (member === undefined) left.push(name);
      else if (news === 'updated') {
        text = `{"connectionId":${name},"state":${member.stateText}}`;
        updated.push(text);
      } else {
        text = textOf(member);
        joined.push(text);
        member.told = true;
      }
      chars += text.length;
    }
    return `{"joined":[${joined.join(',')}],"updated":[${updated.join(',')}],"left":[${left.join(',')}]}`;
  }

  #note(connectionId: string, news: News): void {
    this.#everybody = undefined;
    // The entry keeps its position, so that the oldest news is sent first.
    this.#news.set(connectionId, news);
  }
}

function textOf({ personText, stateText }: Member): string {
  return `${personText},"state":${stateText}}`;
}
