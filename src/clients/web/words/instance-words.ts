/** The texts of the instance's administration, in the language of the app. */
import { computed } from '@preact/signals';
import { enInstance, type InstanceWords } from './en-instance.ts';
import { esInstance } from './es-instance.ts';
import { words } from './words.ts';

export const instanceWords = computed<InstanceWords>(() => (words.value.locale === 'es' ? esInstance : enInstance));
