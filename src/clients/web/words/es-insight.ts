/** The texts of what people learn about their pages, in Spanish. */
import type { enInsight } from './en-insight.ts';
import { pluralIn } from './plural.ts';

const plural = pluralIn('es');

export const esInsight: typeof enInsight = {
  views: {
    title: 'Visitas',
    range: 'Tiempo mostrado',
    ranges: { '7': '7 días', '30': '30 días', '90': '90 días' },
    views: 'Vistas',
    visitors: 'Visitantes',
    now: (count: number) => `${plural(count, 'persona', 'personas')} aquí ahora`,
    table: (days: string) => `Vistas y visitantes de los últimos ${days}`,
    day: 'Día',
    dayOf: (date: string, views: number, visitors: number) =>
      `${date}: ${plural(views, 'vista', 'vistas')}, ${plural(visitors, 'visitante', 'visitantes')}`,
    today: 'Hoy',
    empty: 'Nadie ha abierto la página en este tiempo.',
    note: 'Sin cookies, y nadie es reconocido otro día. Tú también cuentas; los bots, las vistas previas y las páginas precargadas no. Los días son UTC.',
  },
  ask: {
    row: (question) => `Preguntar: «${question}»`,
    group: 'Pregunta a tus páginas',
    hint: 'preguntar',
    answerTo: (question) => `Respuesta a «${question}»`,
    reading: 'Leyendo lo que dicen las páginas…',
    writing: 'La respuesta se está redactando.',
    ready: (sources) => `La respuesta está completa, con ${plural(sources, 'fuente', 'fuentes')}.`,
    stop: 'Detener',
    stopped: 'Has detenido la respuesta.',
    again: 'Preguntar otra vez',
    broken: 'La respuesta se ha interrumpido. Pregunta otra vez.',
    passages: 'Pasajes literales',
    written: 'Redactada por un modelo a partir de estos pasajes; compruébalos',
    sources: 'Fuentes',
    source: (no, title) => `Fuente ${no}: ${title}`,
    onPage: 'Leer en la página',
    onPageOf: (title) => `Leer en la página «${title}»`,
    back: 'Volver a la búsqueda',
    page: 'Pregunta a esta página',
    pageText:
      'Se responde con lo que dicen esta página, sus tablas, conjuntos de datos y documentos. Las preguntas y respuestas no se guardan.',
    question: 'Pregunta',
    send: 'Preguntar',
  },
  inbox: {
    title: 'Bandeja',
    text: 'Comentarios que te mencionan, que tienes asignados o que están en tus páginas.',
    filter: 'Qué comentarios',
    filters: { all: 'Todos', mentions: 'Menciones', assigned: 'Asignados' },
    state: 'Estado',
    states: { open: 'Abiertos', resolved: 'Resueltos' },
    unread: 'Sin leer',
    unreadCount: 'sin leer',
    markRead: 'Marcar como leídos',
    on: (page: string) => `en ${page}`,
    resolveOf: (text: string) => `Resolver «${text}»`,
    reopenOf: (text: string) => `Reabrir «${text}»`,
    resolved: 'Resuelto.',
    reopened: 'Abierto de nuevo.',
    reasons: { mention: 'Te menciona', assigned: 'Asignado a ti', owner: 'Tu página', collaborator: 'Colaboras' },
    empty: {
      all: { title: 'Nada para ti', text: 'Cuando alguien te mencione, te asigne un comentario o comente en tus páginas, estará aquí.' },
      mentions: { title: 'Nadie te menciona', text: 'Aquí aparecen los comentarios con tu nombre después de una @.' },
      assigned: { title: 'No tienes nada asignado', text: 'Los propietarios y editores asignan comentarios a personas.' },
      resolved: { title: 'Aún no hay nada resuelto', text: 'Los comentarios resueltos se guardan aquí.' },
    },
  },
};
