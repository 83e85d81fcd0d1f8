/** Calls into the page's own code: what fails there is the page's own error and must not stop ours. */
export function tell<A extends readonly unknown[]>(listener: (...details: A) => void, ...details: A): void {
  try {
    listener(...details);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
