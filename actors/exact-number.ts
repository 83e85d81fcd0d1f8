/** A JSON number that JavaScript's cannot hold, as its text. Nobody calculates with it; see json-text.ts. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): never {
    throw new Error('JSON.stringify would lose the number: use jsonText');
  }
}
