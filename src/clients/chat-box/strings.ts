/** All texts of the chat box, in the language of the page. */
const EN = {
  lang: 'en',
  launcher: (unread: number) => (unread === 0 ? 'Chat' : `Chat, ${unread} new`),
  title: 'Chat',
  close: 'Close the chat',
  greeting: 'Write to us; the answer appears here.',
  messages: 'Messages',
  you: 'You',
  makers: 'Us',
  name: 'Your name (optional)',
  email: 'Your e-mail address (optional)',
  message: 'Message',
  send: 'Send',
  hint: 'Enter sends, Shift + Enter begins a line.',
  waits: 'Your message has arrived. The answer appears here, also when you come back later.',
  resolved: 'This is settled. Write again if something is left.',
  offline: 'The connection is lost. New messages appear when it is back.',
  said: (name: string, text: string) => `${name}: ${text}`,
  errors: {
    SUPPORT_CHAT_OFF: 'This chat was turned off.',
    RATE_LIMITED: 'Many messages came at once. Try again in a while.',
    NETWORK_ERROR: 'The server did not answer. Check the connection and try again.',
  } as Readonly<Record<string, string>>,
};

export type Texts = typeof EN;

const ES: Texts = {
  lang: 'es',
  launcher: (unread) => (unread === 0 ? 'Chat' : `Chat, ${unread} sin leer`),
  title: 'Chat',
  close: 'Cerrar el chat',
  greeting: 'Escríbenos; la respuesta aparece aquí.',
  messages: 'Mensajes',
  you: 'Tú',
  makers: 'Nosotros',
  name: 'Tu nombre (opcional)',
  email: 'Tu correo electrónico (opcional)',
  message: 'Mensaje',
  send: 'Enviar',
  hint: 'Intro envía, Mayús + Intro empieza una línea.',
  waits: 'Tu mensaje ha llegado. La respuesta aparecerá aquí, también si vuelves más tarde.',
  resolved: 'Esto está resuelto. Vuelve a escribir si queda algo.',
  offline: 'Se ha perdido la conexión. Los mensajes nuevos aparecerán cuando vuelva.',
  said: (name, text) => `${name}: ${text}`,
  errors: {
    SUPPORT_CHAT_OFF: 'Este chat se ha desactivado.',
    RATE_LIMITED: 'Han llegado muchos mensajes a la vez. Inténtalo dentro de un rato.',
    NETWORK_ERROR: 'El servidor no ha respondido. Comprueba la conexión e inténtalo de nuevo.',
  },
};

/** `lang`: what the page says of itself; where it says nothing, the visitor's own. */
export function textsFor(lang: string, visitors: string): Texts {
  return (lang === '' ? visitors : lang).toLowerCase().startsWith('es') ? ES : EN;
}
