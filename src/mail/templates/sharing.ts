/** Mail about what a workspace shares with people outside. */
import { named, type Template } from './message.ts';

interface SharedOutsideFacts {
  /** Null where who shares has no name. */
  readonly by: string | null;
  readonly workspace: string;
  /** The name of the artifact or the folder. */
  readonly artifact: string;
  readonly url: string;
}

export const sharedOutside: Template<SharedOutsideFacts> = {
  en: ({ by, workspace, artifact, url }) => ({
    subject: `${named(by ?? workspace)} shares "${named(artifact)}" with you`,
    heading: 'Something is shared with you',
    lead: `${named(by ?? workspace)} shares "${named(artifact)}" of "${named(workspace)}" with you.`,
    action: { label: 'Open it', url },
    notes: ['Sign in with the address that this mail was sent to.', 'If you do not know who shares it, ignore this mail.'],
  }),
  es: ({ by, workspace, artifact, url }) => ({
    subject: `${named(by ?? workspace)} comparte «${named(artifact)}» contigo`,
    heading: 'Alguien comparte algo contigo',
    lead: `${named(by ?? workspace)} comparte «${named(artifact)}» de «${named(workspace)}» contigo.`,
    action: { label: 'Abrir', url },
    notes: ['Inicia sesión con la dirección que recibe este correo.', 'Si no sabes quién lo comparte, ignora este correo.'],
  }),
};
