/** The texts of what people learn about their pages, in English. */
import { pluralIn } from './plural.ts';

const plural = pluralIn('en');

export const enInsight = {
  views: {
    title: 'Visits',
    range: 'Time shown',
    ranges: { '7': '7 days', '30': '30 days', '90': '90 days' },
    views: 'Views',
    visitors: 'Visitors',
    now: (count: number) => `${plural(count, 'person', 'people')} here now`,
    table: (days: string) => `Views and visitors of the last ${days}`,
    day: 'Day',
    dayOf: (date: string, views: number, visitors: number) =>
      `${date}: ${plural(views, 'view', 'views')}, ${plural(visitors, 'visitor', 'visitors')}`,
    today: 'Today',
    empty: 'Nobody has opened the page in this time.',
    note: 'Without cookies, and nobody is known again on another day. You count too; bots, previews and prefetched pages do not. Days are in UTC.',
  },
  inbox: {
    title: 'Inbox',
    text: 'Comments that mention you, are assigned to you, or are on pages of yours.',
    filter: 'Which comments',
    filters: { all: 'All', mentions: 'Mentions', assigned: 'Assigned' },
    state: 'State',
    states: { open: 'Open', resolved: 'Resolved' },
    unread: 'Unread',
    unreadCount: 'unread',
    markRead: 'Mark as read',
    on: (page: string) => `on ${page}`,
    resolveOf: (text: string) => `Resolve “${text}”`,
    reopenOf: (text: string) => `Reopen “${text}”`,
    resolved: 'Resolved.',
    reopened: 'Open again.',
    reasons: { mention: 'Mentions you', assigned: 'Assigned to you', owner: 'Your page', collaborator: 'You collaborate' },
    empty: {
      all: { title: 'Nothing for you', text: 'When somebody mentions you, assigns you a comment or comments on your pages, it is here.' },
      mentions: { title: 'Nobody mentions you', text: 'Comments with your name after an @ are listed here.' },
      assigned: { title: 'Nothing is assigned to you', text: 'Owners and editors assign comments to people.' },
      resolved: { title: 'Nothing is resolved yet', text: 'Resolved comments are kept here.' },
    },
  },
};
