/** The texts of the pages of share links, in each language. */
import type { Locale } from '../../../mail/templates/message.ts';

const en = {
  none: 'This link does not work',
  noneText: 'It may have expired or been revoked, or its address may be mistyped. Ask who gave it to you for another one.',
  password: 'Password',
  passwordTitle: 'This file is protected',
  passwordText: 'Whoever gave you the link has the password.',
  open: 'Open',
  wrong: 'The password is wrong.',
  wait: (minutes: number) => `There were too many attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
  domainTitle: 'This file is for some people only',
  domainText: (domain: string) => `Sign in with an address of ${domain} that is proved.`,
  useAnother: 'Use another account',
  download: 'Download',
  size: (text: string, type: string) => `${text}, ${type}`,
};

const es: typeof en = {
  none: 'Este enlace no funciona',
  noneText: 'Puede haber caducado o haberse revocado, o la dirección puede tener una errata. Pide otro a quien te lo dio.',
  password: 'Contraseña',
  passwordTitle: 'Este archivo está protegido',
  passwordText: 'La contraseña la tiene quien te dio el enlace.',
  open: 'Abrir',
  wrong: 'La contraseña no es correcta.',
  wait: (minutes) => `Ha habido demasiados intentos. Vuelve a probar en ${minutes} ${minutes === 1 ? 'minuto' : 'minutos'}.`,
  domainTitle: 'Este archivo es solo para algunas personas',
  domainText: (domain) => `Inicia sesión con una dirección verificada de ${domain}.`,
  useAnother: 'Usar otra cuenta',
  download: 'Descargar',
  size: (text, type) => `${text}, ${type}`,
};

export type ShareWords = typeof en;

export function shareWords(locale: Locale): ShareWords {
  return locale === 'es' ? es : en;
}

const UNITS = ['B', 'KB', 'MB', 'GB'];

export function sizeText(bytes: number, locale: Locale): string {
  const step = bytes === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: step === 0 ? 0 : 1 }).format(bytes / 1024 ** step);
  return `${number} ${UNITS[step]}`;
}
