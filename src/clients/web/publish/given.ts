/** What a person gives to be published, and why it may not be. */
import { Problem } from '../api/problem.ts';

export interface GivenFile {
  /** In the published version: relative, forward slashes, NFC. */
  readonly path: string;
  readonly bytes: Blob;
}

/** Says in words why these files are not published. */
export class NotPublishable extends Error {
  readonly problem: Problem;

  constructor(message: string) {
    super(message);
    this.problem = new Problem({ status: 0, code: 'NOT_PUBLISHABLE', message });
  }
}
