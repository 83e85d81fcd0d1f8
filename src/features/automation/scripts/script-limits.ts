/** Bounds of scripts. What is over them ends the run with an error of its own, and harms no other run. */
import { LIMITS } from '../../../../protocol/core/limits.ts';

export const SCRIPT = {
  /** UTF-8. */
  sourceBytesMax: 256 * 1024,
  /** Of its JSON, UTF-8. */
  paramsBytesMax: 64 * 1024,
  /** From its start to its end, waiting included. */
  wallMsMax: 10_000,
  /** What a script may hold, its own code included. */
  heapBytesMax: 64 * 1024 * 1024,
  valueBytesMax: 64 * 1024,
  outputBytesMax: 64 * 1024,
  messageCharsMax: 2000,
  /** Calls of one run, to the data and to the outside. */
  callsMax: 1000,
  /** Calls of one run that are under way at once; the others wait inside the sandbox, in the memory of the script. */
  callsInFlightMax: 8,
  timersMax: 1000,
  /** Of one call as JSON: the largest body that the API takes, and room around it. */
  callCharsMax: LIMITS.insertBodyBytesMax + 16 * 1024,
  /** Of an answer as JSON: larger than any page of rows or keys. */
  answerCharsMax: 16 * 1024 * 1024,
  fetchUrlCharsMax: 8192,
  fetchHeadersMax: 50,
  fetchHeaderCharsMax: 4096,
} as const;
