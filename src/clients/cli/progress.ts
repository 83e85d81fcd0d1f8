/** Shows the progress of an upload: a bar on a terminal, plain lines elsewhere, nothing with --json. */
import cliProgress from 'cli-progress';
import type { Session } from './session.ts';
import { bytesText, countText } from './text.ts';

export interface Progress {
  /** `files`: how many are complete with these bytes, default one. */
  sent(bytes: number, files?: number): void;
  end(): void;
}

export function startProgress(session: Session, files: number, bytes: number): Progress {
  const { stderr, env } = session.shell;
  if (session.json || files === 0) return { sent: () => undefined, end: () => undefined };
  if (!stderr.isTTY || env.TERM === 'dumb') {
    session.remark(`Sending ${countText(files, 'file')}, ${bytesText(bytes)}.`);
    return { sent: () => undefined, end: () => undefined };
  }
  const bar = new cliProgress.SingleBar({
    stream: stderr,
    format: 'Sending [{bar}] {percentage}%  {done} of {all}, {sent}/{files} files',
    barCompleteChar: '=',
    barIncompleteChar: ' ',
    barsize: 30,
    hideCursor: true,
    clearOnComplete: true,
    linewrap: false,
  });
  let doneBytes = 0;
  let doneFiles = 0;
  const payload = () => ({ done: bytesText(doneBytes), all: bytesText(bytes), sent: doneFiles, files });
  // An empty file counts as one byte, so that the bar also completes for a folder of empty files.
  bar.start(Math.max(bytes, 1), 0, payload());
  return {
    sent: (more, moreFiles = 1) => {
      doneBytes += more;
      doneFiles += moreFiles;
      bar.update(doneBytes, payload());
    },
    end: () => bar.stop(),
  };
}
