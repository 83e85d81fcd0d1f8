/** Mails about what an artifact does while nobody looks. Names and words of people are bounded and never become links. */
import { LIMITS } from '../../../protocol/core/limits.ts';
import { named, quoted, type Template } from './message.ts';

interface AlertFacts {
  /** The name of the rule. */
  readonly rule: string;
  readonly artifact: string;
  /** What was seen, in words: `revenue is 12, which is below 20`. */
  readonly what: string;
  readonly url: string;
}

/** Whoever made the rule may have written it, so it is not cut where that is allowed to be long. */
export function saidByAlert(what: string): string {
  return quoted(what, 2 * LIMITS.alertMessageCharsMax);
}

export const alert: Template<AlertFacts> = {
  en: ({ rule, artifact, what, url }) => ({
    subject: `Alert: ${named(rule)} on "${named(artifact)}"`,
    heading: named(rule),
    lead: `This alert looks after the page "${named(artifact)}".`,
    quote: saidByAlert(what),
    action: { label: 'Open the page', url },
    notes: ['You get this mail because the alert names your address.'],
  }),
  es: ({ rule, artifact, what, url }) => ({
    subject: `Alerta: ${named(rule)} en «${named(artifact)}»`,
    heading: named(rule),
    lead: `Esta alerta vigila la página «${named(artifact)}».`,
    quote: saidByAlert(what),
    action: { label: 'Abrir la página', url },
    notes: ['Recibes este correo porque la alerta tiene tu dirección.'],
  }),
};

interface NoticeFacts {
  readonly title: string;
  readonly body: string;
  readonly url: string;
}

export const notice: Template<NoticeFacts> = {
  en: ({ title, body, url }) => ({
    subject: named(title),
    heading: named(title),
    lead: quoted(body),
    action: { label: 'Open it', url },
    notes: ['You get this mail because it concerns something of yours.'],
  }),
  es: ({ title, body, url }) => ({
    subject: named(title),
    heading: named(title),
    lead: quoted(body),
    action: { label: 'Abrir', url },
    notes: ['Recibes este correo porque es sobre algo tuyo.'],
  }),
};
