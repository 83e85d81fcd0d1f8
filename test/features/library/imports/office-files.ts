/** Small documents and workbooks, as an office suite writes them. */
import { strToU8, zipSync } from 'fflate';

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function zipOf(parts: Readonly<Record<string, string>>, bytes: Readonly<Record<string, Uint8Array>> = {}): Buffer {
  return Buffer.from(
    zipSync({ ...Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, strToU8(XML + text)])), ...bytes }),
  );
}

const relations = (list: string) => `<Relationships xmlns="${PACKAGE}/relationships">${list}</Relationships>`;
const types = (main: string, of: string) =>
  `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="${main}" ContentType="application/vnd.openxmlformats-officedocument.${of}.main+xml"/></Types>`;

/** With a link whose address is a script. */
export function documentOf(text: string): Buffer {
  const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const link = `<w:hyperlink r:id="r9" xmlns:r="${OFFICE}"><w:r><w:t>click</w:t></w:r></w:hyperlink>`;
  return zipOf({
    '[Content_Types].xml': types('/word/document.xml', 'wordprocessingml.document'),
    '_rels/.rels': relations(`<Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/>`),
    'word/document.xml': `<w:document ${w}><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p><w:p>${link}</w:p></w:body></w:document>`,
    'word/_rels/document.xml.rels': relations(
      `<Relationship Id="r9" Type="${OFFICE}/hyperlink" Target="javascript:alert(1)" TargetMode="External"/>`,
    ),
  });
}

export function workbookOf(rows: readonly (readonly (string | number)[])[]): Buffer {
  const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const cell = (value: string | number, at: number, row: number) => {
    const name = `${String.fromCharCode(65 + at)}${row + 1}`;
    return typeof value === 'number' ? `<c r="${name}"><v>${value}</v></c>` : `<c r="${name}" t="inlineStr"><is><t>${value}</t></is></c>`;
  };
  const data = rows.map((row, at) => `<row r="${at + 1}">${row.map((value, column) => cell(value, column, at)).join('')}</row>`).join('');
  return zipOf({
    '[Content_Types].xml': types('/xl/workbook.xml', 'spreadsheetml.sheet'),
    '_rels/.rels': relations(`<Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/>`),
    'xl/workbook.xml': `<workbook ${main} xmlns:r="${OFFICE}"><sheets><sheet name="Sales" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(`<Relationship Id="r1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>`),
    'xl/worksheets/sheet1.xml': `<worksheet ${main}><sheetData>${data}</sheetData></worksheet>`,
  });
}

/** Shows one picture several times. */
export function picturesOf(picture: Uint8Array, times: number): Buffer {
  const main = 'http://schemas.openxmlformats.org/drawingml/2006';
  const names = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:wp="${main}/wordprocessingDrawing" xmlns:a="${main}/main" xmlns:pic="${main}/picture" xmlns:r="${OFFICE}"`;
  const blip = '<pic:pic><pic:blipFill><a:blip r:embed="r8"/></pic:blipFill></pic:pic>';
  const shown = `<w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData>${blip}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
  const parts = {
    '[Content_Types].xml': types('/word/document.xml', 'wordprocessingml.document'),
    '_rels/.rels': relations(`<Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/>`),
    'word/document.xml': `<w:document ${names}><w:body>${shown.repeat(times)}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relations(`<Relationship Id="r8" Type="${OFFICE}/image" Target="media/one.png"/>`),
  };
  return zipOf(parts, { 'word/media/one.png': picture });
}
