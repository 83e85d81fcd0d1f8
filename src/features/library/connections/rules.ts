/** What a connection may be, decided without I/O. No message repeats a value: it may be a secret in the wrong place. */
import type { z } from 'zod';
import { Failure, type Issue } from '../../../../protocol/core/errors.ts';
import type { ConnectionId, UserId } from '../../../../protocol/core/ids.ts';
import { listed, readInput } from '../../../../protocol/core/issues.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import {
  CONNECTION_AUTHS,
  CONNECTION_CONFIGS,
  CONNECTION_CREDENTIALS,
  type ConnectionAuth,
  type ConnectionType,
} from '../../../../protocol/library/connections.ts';
import type { SecretPlace } from '../../../storage/sealing/sealer.ts';

type Values = Readonly<Record<string, unknown>>;

/** Where credentials are sent: who changes this could otherwise have the stored ones sent to themselves. */
const DESTINATIONS: Readonly<Record<ConnectionType, readonly string[]>> = {
  postgres: ['host', 'port', 'ssl'],
  http: ['url'],
  s3: ['endpoint'],
};

/** How it signs in. Throws INVALID_REQUEST for a way that the type does not have. */
export function authOf(type: ConnectionType, given: ConnectionAuth | undefined): ConnectionAuth {
  const ways: readonly ConnectionAuth[] = CONNECTION_AUTHS[type];
  const [usual] = CONNECTION_AUTHS[type];
  if (given === undefined || ways.includes(given)) return given ?? usual;
  throw refuse('authType', [{ path: 'authType', message: `must be ${listed(ways, 'or')} for a connection of the type ${type}` }]);
}

/** The settings with their defaults. Throws INVALID_REQUEST. */
export function readConfig(type: ConnectionType, config: Values): Values {
  return readPart(CONNECTION_CONFIGS[type], config, 'config', `a connection of the type ${type}`);
}

/** As they are sealed. Throws INVALID_REQUEST. */
export function readCredentials(authType: ConnectionAuth, credentials: Values): string {
  if (authType === 'none') throw refuse('credentials', [{ path: 'credentials', message: 'must be left out, because authType is none' }]);
  return JSON.stringify(readPart(CONNECTION_CREDENTIALS[authType], credentials, 'credentials', `authType ${authType}`));
}

/** Whether credentials would now be sent elsewhere, or otherwise. */
export function isSentElsewhere(
  type: ConnectionType,
  before: { readonly authType: ConnectionAuth; readonly config: Values },
  after: { readonly authType: ConnectionAuth; readonly config: Values },
): boolean {
  return before.authType !== after.authType || DESTINATIONS[type].some((field) => before.config[field] !== after.config[field]);
}

/** Throws INVALID_REQUEST. */
export function refuseWithoutCredentials(): never {
  throw new Failure('INVALID_REQUEST', {
    param: 'credentials',
    message: 'credentials: must be sent again, because the change sends them elsewhere or in another way.',
    hint: 'Send the credentials with the change, or null to remove the stored ones.',
  });
}

/** Throws CONNECTION_LIMIT_EXCEEDED. */
export function requireRoomForConnection(connections: number): void {
  if (connections >= LIMITS.workspaceConnectionsMax) throw new Failure('CONNECTION_LIMIT_EXCEEDED');
}

/** Where the credentials of a connection are stored: its own, or those of one member. */
export function placeOf(id: ConnectionId, userId: UserId | null): SecretPlace {
  return userId === null
    ? { table: 'connection', row: id, field: 'credentials' }
    : { table: 'connection_credential', row: `${id} ${userId}`, field: 'credentials' };
}

function readPart(schema: z.ZodObject, given: Values, part: string, what: string): Values {
  const { value, issues } = readInput(schema, given);
  if (issues === undefined) return value;
  const known = Object.keys(schema.shape);
  // A field that does not exist is not named either: in place of a name there may be a secret.
  const said = issues.map(({ path, message }): Issue => {
    const isKnown = known.includes(path.split('.', 1)[0] ?? '');
    return isKnown
      ? { path: `${part}.${path}`, message: withoutValue(message) }
      : { path: part, message: `has a field that ${what} does not have; its fields are ${listed(known)}` };
  });
  throw refuse(part, [...new Map(said.map((issue) => [`${issue.path} ${issue.message}`, issue])).values()]);
}

/** Messages of the schemas end with what was sent: ", not …". */
function withoutValue(message: string): string {
  return message.split(', not ', 1)[0] ?? message;
}

function refuse(part: string, issues: readonly Issue[]): Failure {
  const [first = { path: part, message: 'is not valid' }] = issues;
  return new Failure('INVALID_REQUEST', { message: `${first.path}: ${first.message}.`, param: first.path, issues });
}
