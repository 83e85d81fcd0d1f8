/** Calls a listener of the page. An exception in it is reported as the page's own error and does not stop the SDK. */
export function tell<A extends readonly unknown[]>(listener: (...details: A) => void, ...details: A): void {
  try {
    listener(...details);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
