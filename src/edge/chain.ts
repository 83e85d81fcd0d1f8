/** Continues at once with a plain value and later with a promise's, so that a fully synchronous request allocates no promise. */
export function chain<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
