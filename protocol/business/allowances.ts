/** How answers say what a plan allows, what of it is used and what is over it. */
import { z } from 'zod';

const count = z.number().int();

/** As in `ALLOWANCE_NUMBERS`, which a test compares with it. */
export const allowances = z.object({
  public_artifacts: z.boolean().meta({ description: 'whether artifacts may be public' }),
  bytes: count,
  artifacts: count.meta({ description: 'the trash included' }),
  versions_per_artifact: count.meta({ description: 'drafts included' }),
  drafts_per_artifact: count,
  workspaces_owned: count.meta({ description: 'of one person' }),
  members: count.meta({ description: 'seats: members of one workspace' }),
  jobs_per_artifact: count,
  jobs: count.meta({ description: 'of one person' }),
  mails_per_day: count.meta({ description: 'recipients of mails of pages, of one person' }),
  publishes_per_hour: count.meta({ description: 'of one person' }),
});

/**
 * What a smaller plan leaves over. Nothing of it is taken away: it stays, and nothing is added until there is less of it than `max`.
 */
export const overAllowance = z.array(
  z.object({
    name: z.string().meta({ description: 'one of the allowances or features' }),
    used: count,
    max: count,
    message: z.string().meta({ description: 'what stays as it is, and what is stopped' }),
  }),
);
