/** A JSON number that a JavaScript number cannot represent, kept as its text and never calculated with; see json-text.ts. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): never {
    throw new Error('JSON.stringify would lose the number: use jsonText');
  }
}
