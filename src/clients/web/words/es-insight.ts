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
