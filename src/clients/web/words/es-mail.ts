/** The texts of mail on behalf of a page, in Spanish. */
import type { enMail } from './en-mail.ts';
import { pluralIn } from './plural.ts';

const plural = pluralIn('es');

export const esMail: typeof enMail = {
  mail: {
    log: 'Lo enviado',
    logText: 'Correo en nombre de esta página en los últimos 30 días: 10 al día.',
    empty: {
      title: 'Todavía no hay correo',
      text: 'Aquí se lista el correo que tú o las tareas enviáis en nombre de esta página, y lo que te escriben los visitantes.',
    },
    to: (name: string, more: number) => (more === 0 ? `para ${name}` : `para ${name} y ${plural(more, 'persona más', 'personas más')}`),
    owner: 'la persona propietaria',
    files: 'Archivos adjuntos',
    status: { queued: 'En espera', sent: 'Enviado', failed: 'Ha fallado', suppressed: 'No enviado', partly_sent: 'Enviado en parte' },
    suppressed: 'Se ha dado de baja, o la dirección no existe.',
    fromVisitor: 'Un visitante ha escrito a la persona propietaria',
    templates: 'Plantillas',
    templatesText: 'Textos de correos con valores dentro: los de esta página y los de tu cuenta.',
    noTemplates: 'Todavía no hay plantillas.',
    newTemplate: 'Nueva plantilla',
    ofAccount: 'Tu cuenta',
    ofPage: 'Esta página',
    back: 'Todo el correo de esta página',
    name: 'Nombre',
    subject: 'Asunto',
    html: 'HTML',
    htmlHint: '{{data.nombre}} es un valor, escapado; {{#data.lista}}…{{/data.lista}} repite una parte para cada elemento.',
    text: 'Texto',
    textHint: 'Vacío: el texto del HTML.',
    scope: 'Pertenece a',
    sample: 'Valores de prueba',
    sampleHint: 'JSON, por ejemplo {"nombre": "Ada"}. No se guardan.',
    sampleWrong: 'Esto no es un objeto JSON.',
    preview: 'Vista previa',
    previewFrame: 'El correo con estos valores',
    previewEmpty: 'Escribe un asunto y el HTML, y el correo aparecerá aquí.',
    asText: 'Como texto',
    saved: 'Plantilla guardada.',
    deleted: 'Plantilla eliminada.',
    delete: 'Eliminar plantilla',
    deleteText: (name: string) => `¿Eliminar «${name}»? Las tareas que la usan fallarán.`,
    missing: { title: 'No hay tal plantilla', text: 'Se ha eliminado, o es de otra página.' },
  },
};
