/** Recognises card numbers, which must never reach the service: a token of the payment provider stands for a card. */

/** 12 to 19 digits, as ISO/IEC 7812 has them, with the spaces or hyphens that people write between them. */
const CANDIDATES = /\d(?:[ -]?\d){11,18}/g;

/** Whether any part of a text is a number with the check digit of a card. */
export function hasCardNumber(text: string): boolean {
  return (text.match(CANDIDATES) ?? []).some((part) => hasCheckDigit(part.replace(/[ -]/g, '')));
}

/** Luhn's check: every second digit from the right counts twice, and the sum is a multiple of ten. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const counted = place % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}
