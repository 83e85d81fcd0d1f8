/** Runs `work` on every item, at most `lanes` at a time. After a failure no new item is started; the error is thrown when the running ones have ended. */
export async function inParallel<T>(items: readonly T[], lanes: number, work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) {
      await work(item).catch((error: unknown) => failures.push(error));
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
  if (failures.length > 0) throw failures[0];
}
