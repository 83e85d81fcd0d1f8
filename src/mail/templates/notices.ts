/** Mails that another person causes: comments, invitations and access. Their names and words are bounded and never become links. */
import { type Locale, named, quoted, type Template } from './message.ts';

interface CommentFacts {
  readonly by: string;
  readonly artifact: string;
  readonly content: string;
  /** Unix ms; null for none. */
  readonly dueAtMs: number | null;
  readonly url: string;
}

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const due = (before: string, dueAtMs: number | null): readonly string[] => (dueAtMs === null ? [] : [`${before} ${day(dueAtMs)}.`]);

const WHY = {
  en: 'You get this mail because you have access to this page.',
  es: 'Recibes este correo porque tienes acceso a esta página.',
} as const;

export const mention: Template<CommentFacts> = {
  en: ({ by, artifact, content, dueAtMs, url }) => ({
    subject: `${named(by)} mentioned you in a comment on "${named(artifact)}"`,
    heading: 'You were mentioned',
    lead: `${named(by)} mentioned you in a comment on "${named(artifact)}":`,
    quote: quoted(content),
    action: { label: 'Open the page', url },
    notes: [...due('Due', dueAtMs), WHY.en],
  }),
  es: ({ by, artifact, content, dueAtMs, url }) => ({
    subject: `${named(by)} te ha mencionado en un comentario de «${named(artifact)}»`,
    heading: 'Te han mencionado',
    lead: `${named(by)} te ha mencionado en un comentario de «${named(artifact)}»:`,
    quote: quoted(content),
    action: { label: 'Abrir la página', url },
    notes: [...due('Para el', dueAtMs), WHY.es],
  }),
};

export const assigned: Template<CommentFacts> = {
  en: ({ by, artifact, content, dueAtMs, url }) => ({
    subject: `${named(by)} assigned you a comment on "${named(artifact)}"`,
    heading: 'A comment was assigned to you',
    lead: `${named(by)} assigned you a comment on "${named(artifact)}":`,
    quote: quoted(content),
    action: { label: 'Open the page', url },
    notes: [...due('Due', dueAtMs), WHY.en],
  }),
  es: ({ by, artifact, content, dueAtMs, url }) => ({
    subject: `${named(by)} te ha asignado un comentario de «${named(artifact)}»`,
    heading: 'Te han asignado un comentario',
    lead: `${named(by)} te ha asignado un comentario de «${named(artifact)}»:`,
    quote: quoted(content),
    action: { label: 'Abrir la página', url },
    notes: [...due('Para el', dueAtMs), WHY.es],
  }),
};

interface InviteFacts {
  /** Null where the inviter has no name. */
  readonly by: string | null;
  readonly workspace: string;
  readonly role: 'owner' | 'admin' | 'member';
  /** The code of the invitation, which can be typed in where the link cannot be opened. */
  readonly code: string;
  /** The page of the invitation. Opening it changes nothing. */
  readonly url: string;
  readonly days: number;
}

const ROLES = {
  en: { owner: 'an owner', admin: 'an admin', member: 'a member' },
  es: { owner: 'propietario', admin: 'administrador', member: 'miembro' },
} as const;

/** As what somebody is invited. */
export function roleWords(locale: Locale, role: InviteFacts['role']): string {
  return ROLES[locale][role];
}

export const invite: Template<InviteFacts> = {
  en: ({ by, workspace, role, code, url, days }) => ({
    subject: by === null ? `You are invited to ${named(workspace)}` : `${named(by)} invited you to ${named(workspace)}`,
    heading: `Join ${named(workspace)}`,
    lead: `${by === null ? 'You are invited' : `${named(by)} invited you`} to the workspace "${named(workspace)}" as ${ROLES.en[role]}.`,
    action: { label: 'See the invitation', url },
    notes: [
      `It is meant for the address that this mail was sent to and is valid for ${days} days. Its code is ${code}.`,
      'If you do not know who invited you, ignore this mail.',
    ],
  }),
  es: ({ by, workspace, role, code, url, days }) => ({
    subject: by === null ? `Invitación a ${named(workspace)}` : `${named(by)} te invita a ${named(workspace)}`,
    heading: `Únete a ${named(workspace)}`,
    lead: `${by === null ? 'Tienes una invitación' : `${named(by)} te invita`} al espacio de trabajo «${named(workspace)}» como ${ROLES.es[role]}.`,
    action: { label: 'Ver la invitación', url },
    notes: [
      `Es para la dirección que recibe este correo y es válida durante ${days} días. Su código es ${code}.`,
      'Si no sabes quién te invita, ignora este correo.',
    ],
  }),
};

interface AccessRequestFacts {
  readonly by: string;
  /** Null for who has proved no address. */
  readonly email: string | null;
  readonly artifact: string;
  readonly message: string | null;
  /** The page on which the owner decides, with either answer chosen. Opening it decides nothing. */
  readonly approveUrl: string;
  readonly denyUrl: string;
}

const whoAsks = (by: string, email: string | null) => (email === null || email === by ? named(by) : `${named(by)} (${named(email)})`);

export const accessRequested: Template<AccessRequestFacts> = {
  en: ({ by, email, artifact, message, approveUrl, denyUrl }) => ({
    subject: `${named(by)} asks for access to "${named(artifact)}"`,
    heading: 'Somebody asks for access',
    lead: `${whoAsks(by, email)} asks for access to "${named(artifact)}".`,
    ...(message !== null && { quote: quoted(message) }),
    action: { label: 'Let them see it', url: approveUrl },
    otherAction: { label: 'Decline', url: denyUrl },
    notes: ['Either button opens a page that asks you once more.', 'You get this mail because you own this page.'],
  }),
  es: ({ by, email, artifact, message, approveUrl, denyUrl }) => ({
    subject: `${named(by)} pide acceso a «${named(artifact)}»`,
    heading: 'Alguien pide acceso',
    lead: `${whoAsks(by, email)} pide acceso a «${named(artifact)}».`,
    ...(message !== null && { quote: quoted(message) }),
    action: { label: 'Permitir que la vea', url: approveUrl },
    otherAction: { label: 'Rechazar', url: denyUrl },
    notes: ['Los dos botones abren una página que lo pregunta otra vez.', 'Recibes este correo porque esta página es tuya.'],
  }),
};

const MAY = {
  en: { viewer: 'see', editor: 'see and edit', owner: 'manage' },
  es: { viewer: 'ver', editor: 'ver y editar', owner: 'administrar' },
} as const;

interface ShareFacts {
  readonly by: string;
  readonly artifact: string;
  readonly role: 'viewer' | 'editor';
  readonly message: string | null;
  readonly url: string;
}

export const share: Template<ShareFacts> = {
  en: ({ by, artifact, role, message, url }) => ({
    subject: `${named(by)} shared "${named(artifact)}" with you`,
    heading: 'A page was shared with you',
    lead: `${named(by)} lets you ${MAY.en[role]} "${named(artifact)}".`,
    ...(message !== null && { quote: quoted(message) }),
    action: { label: 'Open the page', url },
    notes: [
      'It is shared with the address that this mail was sent to: sign in with it.',
      'If you do not know the sender, ignore this mail.',
    ],
  }),
  es: ({ by, artifact, role, message, url }) => ({
    subject: `${named(by)} ha compartido «${named(artifact)}» contigo`,
    heading: 'Han compartido una página contigo',
    lead: `${named(by)} te permite ${MAY.es[role]} «${named(artifact)}».`,
    ...(message !== null && { quote: quoted(message) }),
    action: { label: 'Abrir la página', url },
    notes: [
      'Se comparte con la dirección que recibe este correo: inicia sesión con ella.',
      'Si no conoces a quien lo envía, ignora este correo.',
    ],
  }),
};

interface AccessGrantedFacts {
  readonly by: string;
  readonly artifact: string;
  readonly role: 'viewer' | 'editor' | 'owner';
  readonly url: string;
}

export const accessGranted: Template<AccessGrantedFacts> = {
  en: ({ by, artifact, role, url }) => ({
    subject: `You have access to "${named(artifact)}"`,
    heading: 'You have access',
    lead: `${named(by)} lets you ${MAY.en[role]} "${named(artifact)}".`,
    action: { label: 'Open the page', url },
    notes: [],
  }),
  es: ({ by, artifact, role, url }) => ({
    subject: `Tienes acceso a «${named(artifact)}»`,
    heading: 'Tienes acceso',
    lead: `${named(by)} te permite ${MAY.es[role]} «${named(artifact)}».`,
    action: { label: 'Abrir la página', url },
    notes: [],
  }),
};

export const accessDenied: Template<{ readonly artifact: string }> = {
  en: ({ artifact }) => ({
    subject: `Your request for "${named(artifact)}" was declined`,
    heading: 'Your request was declined',
    lead: `The owner of "${named(artifact)}" has declined your request for access.`,
    notes: [],
  }),
  es: ({ artifact }) => ({
    subject: `Se ha rechazado tu petición de «${named(artifact)}»`,
    heading: 'Se ha rechazado tu petición',
    lead: `La persona propietaria de «${named(artifact)}» ha rechazado tu petición de acceso.`,
    notes: [],
  }),
};
