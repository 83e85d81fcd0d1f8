/** Error messages and exit codes of the command line. */
import { ApiError, InvalidInput, NetworkError } from '../sdk/client.ts';

/** Exit codes that scripts can rely on; `easel help` lists them. */
export const EXIT_CODES = {
  unexpected: { code: 1, meaning: 'something unexpected' },
  usage: { code: 2, meaning: 'wrong usage or input' },
  access: { code: 3, meaning: 'not signed in, or not allowed' },
  missing: { code: 4, meaning: 'not found' },
  conflict: { code: 5, meaning: 'conflict (slug taken, value changed)' },
  busy: { code: 6, meaning: 'too many calls, or server unavailable' },
  network: { code: 7, meaning: 'service not reachable' },
  held: { code: 8, meaning: 'published, but not with the requested visibility' },
  stopped: { code: 130, meaning: 'stopped with Ctrl-C' },
} as const;
export type ExitName = keyof typeof EXIT_CODES;

/** A failure that the command line itself detects. */
export class CliFailure extends Error {
  readonly exit: ExitName;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(exit: ExitName, code: string, message: string, hint?: string) {
    super(message);
    this.name = 'CliFailure';
    this.exit = exit;
    this.code = code;
    this.hint = hint;
  }
}

/** The error that `--json` prints on standard error: the service's error body plus the exit code. */
export interface FailureReport {
  readonly success: false;
  readonly error: string;
  readonly code: string;
  readonly hint?: string | undefined;
  readonly param?: string | undefined;
  readonly issues?: readonly { readonly path: string; readonly message: string }[] | undefined;
  readonly request_id?: string | undefined;
  readonly status?: number | undefined;
  readonly retry_after_s?: number | undefined;
  readonly exit_code: number;
}

function exitOfStatus(status: number): ExitName {
  if (status === 401 || status === 402 || status === 403) return 'access';
  if (status === 404) return 'missing';
  if (status === 409) return 'conflict';
  if (status === 429 || status === 503) return 'busy';
  // The account's storage is full: as with 413, the input has no room.
  if ((status >= 400 && status < 500) || status === 507) return 'usage';
  return 'unexpected';
}

function durationText(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.ceil(seconds / 60)} minutes`;
  return `${Math.ceil(seconds / 3600)} hours`;
}

function hintFor(error: ApiError): string | undefined {
  if (error.status === 401) {
    return error.reason === 'missing'
      ? 'Run "easel login" to sign in, or "easel login --token so_…" to use a token.'
      : `The token is ${error.reason ?? 'not valid'}. Run "easel login" to sign in again, or "easel login --token so_…" with another one.`;
  }
  if (error.retryAfterS !== undefined) return `Try again in ${durationText(error.retryAfterS)}.`;
  return error.hint;
}

function causeText(error: NetworkError): string {
  let cause: unknown = error.cause;
  // fetch wraps the system's error in another one.
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'Nothing is listening there.';
  if (code === 'ENOTFOUND') return 'The host name does not exist.';
  // Newer versions of Node give this error no code.
  if (code.startsWith('HPE_') || (cause instanceof Error && cause.name === 'HTTPParserError'))
    return 'The program that listens there does not speak HTTP.';
  if (code.startsWith('ERR_SSL_')) return 'The program that listens there does not speak HTTPS: try http://.';
  return cause instanceof Error && cause.message !== '' ? `(${cause.message})` : '';
}

/** Turns a thrown value into the report that is printed. */
export function reportOf(error: unknown, stopped: boolean): FailureReport {
  if (stopped) return { success: false, error: 'Stopped.', code: 'STOPPED', exit_code: EXIT_CODES.stopped.code };
  if (error instanceof CliFailure) {
    return { success: false, error: error.message, code: error.code, hint: error.hint, exit_code: EXIT_CODES[error.exit].code };
  }
  if (error instanceof ApiError) {
    return {
      success: false,
      error: error.message,
      code: error.code,
      hint: hintFor(error),
      param: error.param,
      issues: error.issues.length > 0 ? error.issues : undefined,
      request_id: error.requestId,
      status: error.status,
      retry_after_s: error.retryAfterS,
      exit_code: EXIT_CODES[exitOfStatus(error.status)].code,
    };
  }
  if (error instanceof NetworkError) {
    return {
      success: false,
      error: `${error.message} ${causeText(error)}`.trim(),
      code: 'NETWORK_UNREACHABLE',
      hint: 'Start the server ("npm start" in the folder of Easel), or give another address with --url or EASEL_URL.',
      exit_code: EXIT_CODES.network.code,
    };
  }
  if (error instanceof InvalidInput) {
    return { success: false, error: error.message, code: 'INVALID_INPUT', exit_code: EXIT_CODES.usage.code };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { success: false, error: message, code: 'UNEXPECTED', exit_code: EXIT_CODES.unexpected.code };
}

export function failureText(report: FailureReport): string {
  const lines = [`easel: ${report.error}${report.param && !report.issues ? ` (${report.param})` : ''}`];
  for (const issue of report.issues ?? []) lines.push(`  ${issue.path === '' ? 'body' : issue.path}: ${issue.message}`);
  if (report.hint) lines.push(`  Fix: ${report.hint}`);
  if (report.request_id) lines.push(`  ${report.code}, request ${report.request_id}`);
  return lines.join('\n');
}
