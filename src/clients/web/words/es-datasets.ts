/** The texts of datasets, in Spanish. */
import type { enDatasets } from './en-datasets.ts';
import { pluralIn } from './plural.ts';

const plural = pluralIn('es');

export const esDatasets: typeof enDatasets = {
  datasets: {
    title: 'Conjuntos de datos',
    empty: {
      title: 'Aún no hay conjuntos de datos',
      text: 'Un conjunto de datos es un archivo de filas que la página lee con filtros. Guarda CSV, líneas de JSON o una lista JSON.',
    },
    add: 'Nuevo conjunto',
    newVersion: 'Nueva versión',
    newVersionOf: (name) => `Nueva versión de «${name}»`,
    name: 'Nombre',
    nameHint: 'Una letra y después hasta 63 letras, cifras, guiones bajos y guiones.',
    file: 'Archivo',
    fileHint: 'CSV cuya primera línea nombra las columnas, .ndjson, o .json con una lista. Como máximo 100 MB.',
    choose: 'Elegir un archivo',
    chosen: (name, size) => `${name}, ${size}`,
    unknown: 'El archivo no es CSV ni JSON.',
    store: 'Guardar',
    stored: (name, version) => `La versión ${version} de ${name} está guardada.`,
    same: (name) => `${name} ya tiene estas filas.`,
    version: (no) => `Versión ${no}`,
    rows: (count) => plural(count, 'fila', 'filas'),
    show: 'Ver filas',
    rowsOf: (name) => `Filas de ${name}`,
    which: 'Versión',
    filter: 'Filtro',
    filterHint: 'Condiciones en JSON, como {"sum": {"$gte": 100}}.',
    none: 'Ninguna fila coincide.',
    nothing: 'El conjunto no tiene filas.',
    types: { string: 'texto', number: 'número', boolean: 'sí o no', date: 'fecha', json: 'cualquiera' },
    download: (format) => `Descargar ${format}`,
    delete: 'Eliminar',
    deleteText: 'Se eliminan todas sus versiones. No se puede deshacer.',
    deleted: (name) => `${name} se ha eliminado.`,
  },
};
