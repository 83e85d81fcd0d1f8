/** A number with its noun, for languages with two forms. */
export function pluralIn(locale: string) {
  return (count: number, one: string, many: string) => `${count.toLocaleString(locale)} ${count === 1 ? one : many}`;
}
