/** Goes on at once with what is at hand, and after the promise with what is not: a fully synchronous request costs no promise. */
export function chain<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
