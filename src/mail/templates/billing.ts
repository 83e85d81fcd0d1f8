/** Mails about what a workspace pays, to those who may change it. */
import { named, type Template } from './message.ts';

interface UnpaidFacts {
  readonly workspace: string;
  /** The day on which the subscription ends unless it is paid, as YYYY-MM-DD. */
  readonly endsOn: string;
  readonly url: string;
}

export const billingUnpaid: Template<UnpaidFacts> = {
  en: ({ workspace, endsOn, url }) => ({
    subject: `The payment for ${named(workspace)} did not work`,
    heading: 'The payment did not work',
    lead: `The bank did not pay the subscription of the workspace "${named(workspace)}". Everything still works. Unless it is paid, the subscription ends on ${endsOn}.`,
    action: { label: 'Pay with another card', url },
    notes: ['Nothing is deleted when the subscription ends.', 'You get this mail because you manage what this workspace pays.'],
  }),
  es: ({ workspace, endsOn, url }) => ({
    subject: `No se ha podido cobrar la suscripción de ${named(workspace)}`,
    heading: 'No se ha podido cobrar',
    lead: `El banco no ha pagado la suscripción del espacio de trabajo «${named(workspace)}». Todo sigue funcionando. Si no se paga, la suscripción termina el ${endsOn}.`,
    action: { label: 'Pagar con otra tarjeta', url },
    notes: [
      'No se borra nada cuando termina la suscripción.',
      'Recibes este correo porque administras los pagos de este espacio de trabajo.',
    ],
  }),
};

interface EndedFacts {
  readonly workspace: string;
  readonly url: string;
}

export const billingEnded: Template<EndedFacts> = {
  en: ({ workspace, url }) => ({
    subject: `The subscription of ${named(workspace)} has ended`,
    heading: 'The subscription has ended',
    lead: `The workspace "${named(workspace)}" has its plan without a subscription again. Nothing was deleted: what is there stays, and what needs a paid plan cannot be added.`,
    action: { label: 'Choose a plan', url },
    notes: ['You get this mail because you manage what this workspace pays.'],
  }),
  es: ({ workspace, url }) => ({
    subject: `La suscripción de ${named(workspace)} ha terminado`,
    heading: 'La suscripción ha terminado',
    lead: `El espacio de trabajo «${named(workspace)}» vuelve a tener su plan sin suscripción. No se ha borrado nada: lo que hay se conserva, y no se puede añadir lo que necesita un plan de pago.`,
    action: { label: 'Elegir un plan', url },
    notes: ['Recibes este correo porque administras los pagos de este espacio de trabajo.'],
  }),
};
