/** The texts of datasets, in English. */
import { pluralIn } from './plural.ts';

const plural = pluralIn('en');

export const enDatasets = {
  datasets: {
    title: 'Datasets',
    empty: {
      title: 'No datasets yet',
      text: 'A dataset is a file of rows that the page reads by filter. Store CSV, lines of JSON or a JSON array.',
    },
    add: 'New dataset',
    newVersion: 'New version',
    newVersionOf: (name: string) => `New version of “${name}”`,
    name: 'Name',
    nameHint: 'A letter, then at most 63 letters, digits, underscores and hyphens.',
    file: 'File',
    fileHint: 'CSV whose first line names the columns, .ndjson, or .json with an array. At most 100 MB.',
    choose: 'Choose a file',
    chosen: (name: string, size: string) => `${name}, ${size}`,
    unknown: 'The file is neither CSV nor JSON.',
    store: 'Store',
    stored: (name: string, version: number) => `Version ${version} of ${name} is stored.`,
    same: (name: string) => `${name} has these rows already.`,
    version: (no: number) => `Version ${no}`,
    rows: (count: number) => plural(count, 'row', 'rows'),
    show: 'Show rows',
    rowsOf: (name: string) => `Rows of ${name}`,
    which: 'Version',
    filter: 'Filter',
    filterHint: 'Conditions as JSON, such as {"sum": {"$gte": 100}}.',
    none: 'No row matches.',
    nothing: 'The dataset has no rows.',
    types: { string: 'text', number: 'number', boolean: 'yes or no', date: 'date', json: 'any' },
    download: (format: string) => `Download ${format}`,
    delete: 'Delete',
    deleteText: 'All of its versions go with it. This cannot be undone.',
    deleted: (name: string) => `${name} is deleted.`,
  },
};
