/** The texts of the pages on which access is asked for, decided and taken up, in each language. */
import type { Failure } from '../../../../protocol/core/errors.ts';
import { type Html, html } from '../../../edge/html.ts';
import type { Locale } from '../../../mail/templates/message.ts';

const en = {
  useAnother: 'Use another account',
  signedInAs: (who: Html): Html => html`You are signed in as ${who}.`,
  open: {
    title: 'Open a page',
    opening: 'Opening the page',
    goOn: (link: (text: string) => Html): Html => html`${link('Go on')} if nothing happens.`,
    agree: 'Show your name on this page?',
    agreeText: (url: Html): Html =>
      html`Everybody may see ${url}, and you need not sign in for that. If you go on, its author and its visitors may see your name and what you do there.`,
    goOnAs: (who: string) => `Go on as ${who}`,
    without: 'Look at it without signing in',
    none: 'You have no access to this page',
    noneText: (who: Html): Html => html`Nothing at this address is shared with ${who}. It may be private, or the address may be mistyped.`,
    message: 'A word to its owner (optional)',
    ask: 'Ask for access',
    asked: 'Access to a page',
    askedText: 'If there is a page at this address, its owner has your request.',
    askedMail: 'You get a mail when it is decided.',
  },
  request: {
    title: 'Request for access',
    asks: (who: string) => `${who} asks for access`,
    somebody: 'Somebody',
    page: 'Page',
    who: 'Who',
    noName: 'has no name',
    address: 'Address',
    noAddress: 'none that is proved',
    asked: 'Asked',
    ownWords: 'Name and message are their own words. They would see the page, and could change nothing.',
    allow: 'Let them see it',
    decline: 'Decline',
    decided: (page: Html, status: 'approved' | 'denied' | 'ended' | 'pending'): Html => {
      const was = {
        approved: 'was approved',
        denied: 'was declined',
        ended: 'needs no decision any more: they have access',
        pending: 'waits',
      }[status];
      return html`This request for ${page} ${was}.`;
    },
    given: 'Access given',
    declined: 'Declined',
    givenText: (who: string, page: Html): Html => html`${who} can see ${page} now.`,
    declinedText: 'The request was declined.',
    told: 'They are told by mail.',
    notForYou: (who: Html): Html => html`There is no such request, or it is not for ${who} to decide.`,
  },
  invite: {
    title: 'Invitation',
    join: (workspace: string) => `Join ${workspace}`,
    joinText: (workspace: Html, role: 'owner' | 'admin' | 'member'): Html =>
      html`You are invited to the workspace ${workspace} as <strong>${role}</strong>.`,
    joinAction: 'Join the workspace',
    notForYou: (who: Html): Html =>
      html`This invitation is not open for you. It may have ended, or it was sent to another address than ${who}.`,
    whatToDo: (account: (text: string) => Html): Html =>
      html`Sign in with the address that the mail was sent to, or add that address to ${account('your account')}.`,
    welcome: (workspace: string) => `Welcome to ${workspace}`,
    member: 'You are a member now.',
    inLine: (slug: Html): Html => html`In the command line the workspace is ${slug}.`,
  },
};

export type SharingWords = typeof en;

const es: SharingWords = {
  useAnother: 'Usar otra cuenta',
  signedInAs: (who) => html`Has iniciado sesión como ${who}.`,
  open: {
    title: 'Abrir una página',
    opening: 'Abriendo la página',
    goOn: (link) => html`${link('Continúa')} si no pasa nada.`,
    agree: '¿Mostrar tu nombre en esta página?',
    agreeText: (url) =>
      html`Cualquiera puede ver ${url}, y no hace falta iniciar sesión para ello. Si continúas, su autor y sus visitantes podrán ver tu nombre y lo que haces allí.`,
    goOnAs: (who) => `Continuar como ${who}`,
    without: 'Verla sin iniciar sesión',
    none: 'No tienes acceso a esta página',
    noneText: (who) => html`Nada en esta dirección se comparte con ${who}. Puede ser privada, o la dirección puede estar mal escrita.`,
    message: 'Unas palabras para su dueño (opcional)',
    ask: 'Pedir acceso',
    asked: 'Acceso a una página',
    askedText: 'Si hay una página en esta dirección, su dueño tiene tu petición.',
    askedMail: 'Recibirás un correo cuando se decida.',
  },
  request: {
    title: 'Petición de acceso',
    asks: (who) => `${who} pide acceso`,
    somebody: 'Alguien',
    page: 'Página',
    who: 'Quién',
    noName: 'no tiene nombre',
    address: 'Dirección',
    noAddress: 'ninguna comprobada',
    asked: 'Pedido',
    ownWords: 'El nombre y el mensaje son palabras suyas. Vería la página y no podría cambiar nada.',
    allow: 'Dejar que la vea',
    decline: 'Rechazar',
    decided: (page, status) => {
      const was = {
        approved: 'se aprobó',
        denied: 'se rechazó',
        ended: 'ya no necesita decisión: tiene acceso',
        pending: 'espera',
      }[status];
      return html`Esta petición para ${page} ${was}.`;
    },
    given: 'Acceso dado',
    declined: 'Rechazada',
    givenText: (who, page) => html`${who} puede ver ${page} ahora.`,
    declinedText: 'La petición se ha rechazado.',
    told: 'Se le avisa por correo.',
    notForYou: (who) => html`No existe esa petición, o no le toca decidirla a ${who}.`,
  },
  invite: {
    title: 'Invitación',
    join: (workspace) => `Unirse a ${workspace}`,
    joinText: (workspace, role) => {
      const as = { owner: 'dueño', admin: 'administrador', member: 'miembro' }[role];
      return html`Te han invitado al espacio ${workspace} como <strong>${as}</strong>.`;
    },
    joinAction: 'Unirse al espacio',
    notForYou: (who) => html`Esta invitación no está abierta para ti. Puede haber terminado, o se envió a otra dirección que ${who}.`,
    whatToDo: (account) => html`Inicia sesión con la dirección a la que llegó el correo, o añade esa dirección a ${account('tu cuenta')}.`,
    welcome: (workspace) => `Te damos la bienvenida a ${workspace}`,
    member: 'Ya eres miembro.',
    inLine: (slug) => html`En la línea de comandos el espacio es ${slug}.`,
  },
};

const WORDS: Readonly<Record<Locale, SharingWords>> = { en, es };

export function sharingWords(locale: Locale): SharingWords {
  return WORDS[locale];
}

/** What can go wrong on these pages and a person can correct; the catalogue itself is in English. */
const FAILURES_ES: Partial<Record<Failure['code'], string>> = {
  ALREADY_HAS_ACCESS: 'Ya tienes acceso.',
  ALREADY_DECIDED: 'Esta petición ya está decidida.',
  ALREADY_MEMBER: 'Ya eres miembro.',
  ADDRESS_NOT_ALLOWED: 'La política de acceso del espacio no admite esta dirección.',
  COLLABORATOR_LIMIT_EXCEEDED: 'La página ya se comparte con todas las personas posibles. Quita a alguien antes.',
  RATE_LIMITED: 'Son demasiadas peticiones por ahora. Espera un poco y vuelve a intentarlo.',
  INVALID_REQUEST: 'Algo de lo que has escrito no es válido.',
};

/** The failure with its message in this language, where there is one. */
export function failureText(failure: Failure, locale: Locale): string | undefined {
  return locale === 'es' ? FAILURES_ES[failure.code] : undefined;
}
