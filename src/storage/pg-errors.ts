/** Tells expected database errors from bugs. */
import postgres from 'postgres';
import { sqlState } from './sql.ts';

const UNIQUE_VIOLATION = '23505';

/** Whether the error is a violation of this unique constraint or index. */
export function violates(error: unknown, constraint: string): boolean {
  return sqlState(error) === UNIQUE_VIOLATION && error instanceof postgres.PostgresError && error.constraint_name === constraint;
}
