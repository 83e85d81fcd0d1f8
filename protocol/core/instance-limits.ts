/** Limits of the installation's administration: the part of `LIMITS` that only it uses. */
export const INSTANCE_LIMITS = {
  // What administrators look for, and the reason that they give for a suspension
  adminQueryCharsMax: 200,
  suspensionReasonCharsMax: 500,
  // The banner of the installation, and for how long a node may show one that has ended
  bannerCharsMax: 500,
  // Slow turns of the event loop that a process remembers
  slowTurnsKept: 100,
  // Calls of one administrator a minute: RATE_LIMITED
  adminCallsPerMinute: 600,
  // Exports of one person in a day: RATE_LIMITED; how long a finished one can be fetched
  personExportsPerDay: 5,
  personExportKeptDays: 7,
  // Rows of one table in an export; what is beyond is told in its receipt
  personExportRowsMax: 100_000,
  // Times that an export or a deletion is tried after a failure
  personWorkTriesMax: 8,
  // Days between the request of a deletion and its beginning
  deletionGraceDaysDefault: 7,
  deletionGraceDaysMax: 90,
} as const;
