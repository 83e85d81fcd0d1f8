/** Answers without a model: the passages as they are, saying so. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Locale } from '../../../mail/templates/message.ts';
import { type Answered, citationOf, type Source } from './sources.ts';

/** Why no model has written the answer. */
export type Without = 'no_model' | 'failed';

const WORDS: Readonly<Record<Locale, Readonly<Record<Without | 'nothing', string>>>> = {
  en: {
    no_model: 'No model writes answers here. These passages fit best:',
    failed: 'The model did not answer. These passages fit best:',
    nothing: 'No page that you may open says anything about this.',
  },
  es: {
    no_model: 'Aquí ningún modelo redacta respuestas. Estos pasajes son los que mejor encajan:',
    failed: 'El modelo no ha respondido. Estos pasajes son los que mejor encajan:',
    nothing: 'Ninguna página que puedas abrir dice algo sobre esto.',
  },
};

export function nothingFound(locale: Locale): Answered {
  return { answer: WORDS[locale].nothing, citations: [], mode: 'extractive' };
}

export function extracted(sources: readonly Source[], why: Without, locale: Locale): Answered {
  if (sources.length === 0) return nothingFound(locale);
  const citations = sources.slice(0, LIMITS.askShownMax).map(citationOf);
  const passages = citations.map(({ title, quote }, at) => `[${at + 1}] ${title}: ${quote}`);
  return { answer: [WORDS[locale][why], ...passages].join('\n\n'), citations, mode: 'extractive' };
}
