/** Mails with a code, and those that answer somebody who asked for one. None contains words of whoever caused it. */
import type { Message, Template } from './message.ts';

interface CodeFacts {
  readonly code: string;
  /** Where the code is typed in. */
  readonly url: string;
  readonly minutes: number;
}

const IGNORE = {
  en: 'If you did not ask for this, ignore this mail. Never pass the code on to anybody.',
  es: 'Si no lo has pedido, ignora este correo. No des el código a nadie.',
} as const;

const LASTS = {
  en: (minutes: number) => `The code is valid for ${minutes} minutes and works once.`,
  es: (minutes: number) => `El código es válido durante ${minutes} minutos y sirve una sola vez.`,
} as const;

const notes = (locale: 'en' | 'es', minutes: number): Message['notes'] => [LASTS[locale](minutes), IGNORE[locale]];

export const guestCode: Template<CodeFacts> = {
  en: ({ code, url, minutes }) => ({
    subject: `Your code: ${code}`,
    heading: 'Your code to comment',
    lead: `This is your code to comment on ${url}`,
    code,
    notes: notes('en', minutes),
  }),
  es: ({ code, url, minutes }) => ({
    subject: `Tu código: ${code}`,
    heading: 'Tu código para comentar',
    lead: `Este es tu código para comentar en ${url}`,
    code,
    notes: notes('es', minutes),
  }),
};

export const emailCode: Template<CodeFacts> = {
  en: ({ code, url, minutes }) => ({
    subject: `Your sign-in code: ${code}`,
    heading: 'Your code to sign in',
    lead: `Enter this code to sign in at ${url}`,
    code,
    notes: notes('en', minutes),
  }),
  es: ({ code, url, minutes }) => ({
    subject: `Tu código de acceso: ${code}`,
    heading: 'Tu código para iniciar sesión',
    lead: `Escribe este código para iniciar sesión en ${url}`,
    code,
    notes: notes('es', minutes),
  }),
};

export const linkCode: Template<CodeFacts> = {
  en: ({ code, url, minutes }) => ({
    subject: `Confirm your address: ${code}`,
    heading: 'Confirm your address',
    lead: `Enter this code to add this e-mail address to your account at ${url}`,
    code,
    notes: notes('en', minutes),
  }),
  es: ({ code, url, minutes }) => ({
    subject: `Confirma tu dirección: ${code}`,
    heading: 'Confirma tu dirección',
    lead: `Escribe este código para añadir esta dirección a tu cuenta en ${url}`,
    code,
    notes: notes('es', minutes),
  }),
};

export const signUp: Template<CodeFacts> = {
  en: ({ code, url, minutes }) => ({
    subject: `Confirm your address: ${code}`,
    heading: 'Confirm your address',
    lead: `Enter this code to finish your account at ${url}`,
    code,
    notes: notes('en', minutes),
  }),
  es: ({ code, url, minutes }) => ({
    subject: `Confirma tu dirección: ${code}`,
    heading: 'Confirma tu dirección',
    lead: `Escribe este código para terminar de crear tu cuenta en ${url}`,
    code,
    notes: notes('es', minutes),
  }),
};

export const passwordReset: Template<CodeFacts> = {
  en: ({ code, url, minutes }) => ({
    subject: `Your code for a new password: ${code}`,
    heading: 'Choose a new password',
    lead: `Enter this code at ${url} and choose a new password. All sessions that are open end then.`,
    code,
    notes: notes('en', minutes),
  }),
  es: ({ code, url, minutes }) => ({
    subject: `Tu código para una contraseña nueva: ${code}`,
    heading: 'Elige una contraseña nueva',
    lead: `Escribe este código en ${url} y elige una contraseña nueva. Entonces se cierran todas las sesiones abiertas.`,
    code,
    notes: notes('es', minutes),
  }),
};

interface AccountFacts {
  /** The sign-in page. */
  readonly url: string;
}

/** Instead of a sign-up code, where the address has an account: the answer of the call must not tell. */
export const accountExists: Template<AccountFacts> = {
  en: ({ url }) => ({
    subject: 'You already have an account',
    heading: 'You already have an account',
    lead: 'Somebody, perhaps you, wanted to make an account with this address. It has one already: sign in, or choose a new password there.',
    action: { label: 'Sign in', url },
    notes: ['If it was not you, nothing has changed and you can ignore this mail.'],
  }),
  es: ({ url }) => ({
    subject: 'Ya tienes una cuenta',
    heading: 'Ya tienes una cuenta',
    lead: 'Alguien, quizá tú, ha querido crear una cuenta con esta dirección. Ya tiene una: inicia sesión o elige allí una contraseña nueva.',
    action: { label: 'Iniciar sesión', url },
    notes: ['Si no has sido tú, no ha cambiado nada y puedes ignorar este correo.'],
  }),
};

/** Instead of a code for a new password, where the address has no account that signs in with one. */
export const noAccount: Template<AccountFacts> = {
  en: ({ url }) => ({
    subject: 'There is no account with this address',
    heading: 'There is no account with this address',
    lead: 'Somebody, perhaps you, wanted to choose a new password for this address. No account signs in with it: it may be another address, or you may sign up.',
    action: { label: 'Sign in or sign up', url },
    notes: ['If it was not you, ignore this mail.'],
  }),
  es: ({ url }) => ({
    subject: 'No hay ninguna cuenta con esta dirección',
    heading: 'No hay ninguna cuenta con esta dirección',
    lead: 'Alguien, quizá tú, ha querido elegir una contraseña nueva para esta dirección. Ninguna cuenta inicia sesión con ella: puede que sea otra dirección, o puedes crear una cuenta.',
    action: { label: 'Iniciar sesión o crear una cuenta', url },
    notes: ['Si no has sido tú, ignora este correo.'],
  }),
};

export const passwordChanged: Template<AccountFacts> = {
  en: ({ url }) => ({
    subject: 'Your password was changed',
    heading: 'Your password was changed',
    lead: 'The password of your account was changed, and its other sessions have ended.',
    action: { label: 'Sign in', url },
    notes: ['If it was not you, choose a new password at once.'],
  }),
  es: ({ url }) => ({
    subject: 'Se ha cambiado tu contraseña',
    heading: 'Se ha cambiado tu contraseña',
    lead: 'Se ha cambiado la contraseña de tu cuenta y se han cerrado sus demás sesiones.',
    action: { label: 'Iniciar sesión', url },
    notes: ['Si no has sido tú, elige una contraseña nueva cuanto antes.'],
  }),
};
