/** Tries a connection, through the guarded way to the outside, and says what is wrong with it. */
import type { z } from 'zod';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { connectionTest, connectionTested } from '../../../../protocol/library/connections.ts';
import { type Sealer, Unopenable } from '../../../storage/sealing/sealer.ts';
import { withDeadline } from './deadline.ts';
import type { ConnectionRow, SecretsRow } from './rows.ts';
import { authOf, placeOf, readConfig, readCredentials } from './rules.ts';
import { Answered, testHttp } from './sources/http.ts';
import { testPostgres } from './sources/postgres.ts';
import { testS3 } from './sources/s3.ts';
import { type Credentials, type Reach, type Target, whatIsWrong } from './sources/target.ts';

type Tested = z.input<typeof connectionTested>;
type Given = z.output<typeof connectionTest>;

/** Throws INVALID_REQUEST. */
export function givenTarget({ type = 'http', authType: asked, config = {}, credentials }: Given): Target {
  const authType = authOf(type, asked);
  const text = credentials === undefined ? null : readCredentials(authType, credentials);
  return { type, authType, config: readConfig(type, config), credentials: text === null ? null : JSON.parse(text) };
}

export function storedTarget(sealer: Sealer, row: ConnectionRow, secrets: SecretsRow | null): Target {
  const { type, auth_type: authType, config } = row;
  return { type, authType, config, credentials: secrets === null ? null : opened(sealer, row, secrets) };
}

/** Null where they are sealed with a key that is not there any more. */
function opened(sealer: Sealer, { id }: ConnectionRow, { userId, credentials }: SecretsRow): Credentials | null {
  try {
    return JSON.parse(sealer.open(placeOf(id, userId), credentials));
  } catch (error) {
    if (error instanceof Unopenable) return null;
    throw error;
  }
}

/** Throws UNAVAILABLE where too many calls are under way. */
export async function testConnection(way: Omit<Reach, 'signal'>, target: Target): Promise<Tested> {
  try {
    const detail = await withDeadline(LIMITS.connectionTestMs, undefined, (signal) => tried({ ...way, signal }, target));
    return { ok: true, detail };
  } catch (error) {
    return { ok: false, error: whatIsWrong(error), ...(error instanceof Answered && { detail: error.detail }) };
  }
}

function tried(reach: Reach, target: Target): Promise<string> {
  switch (target.type) {
    case 'http':
      return testHttp(reach, target);
    case 'postgres':
      return testPostgres(reach, target);
    case 's3':
      return testS3(reach, target);
    default:
      return target.type satisfies never;
  }
}
