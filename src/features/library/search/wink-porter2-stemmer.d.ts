/** The package has no types of its own. */
declare module 'wink-porter2-stemmer' {
  /** `word`: in small letters. */
  export default function stem(word: string): string;
}
