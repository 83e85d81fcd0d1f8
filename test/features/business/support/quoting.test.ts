/** Quoted history in mail. */
import { describe, expect, it } from 'vitest';
import { cutQuoted, quotedHistory } from '../../../../src/features/business/support/quoting.ts';

describe('cutting', () => {
  it.each([
    ['On Mon, 5 Jan 2026 at 09:30, Easel <easel@x.example> wrote:\n> It is.\n> Yes.'],
    ['On Mon, 5 Jan 2026 at 09:30, Easel Support of the Installation\n<easel@x.example> wrote:\n\n> It is.'],
    ['Am 05.01.2026 um 09:30 schrieb Easel:\n> Ja.'],
    ['El lun, 5 ene 2026 a las 9:30, Easel escribió:\n> Sí.'],
    ['-----Original Message-----\nFrom: Easel\nSent: Monday\n\nIt is.'],
    [`${'_'.repeat(32)}\nFrom: Easel <easel@x.example>\nSent: Monday\nTo: Grace\nSubject: Re: The map\n\nIt is.`],
    ['From: Easel <easel@x.example>\nSent: Monday\nTo: Grace\n\nIt is.'],
    ['> It is.\n>\n> Yes.'],
  ])('%s', (history) => {
    expect(cutQuoted(`Thank you.\r\n\r\n${history}`)).toEqual({ body: 'Thank you.', quoted: history });
  });

  it('keeps what is written below a marked quotation', () => {
    const text = 'On Monday, Easel wrote:\n> Which browser?\n> And when?\n\nFirefox, today.';
    expect(cutQuoted(text)).toEqual({ body: 'Firefox, today.', quoted: 'On Monday, Easel wrote:\n> Which browser?\n> And when?' });
  });

  it('leaves a mail that is nothing else, and one with a sign in a sentence', () => {
    expect(cutQuoted('> a\n> b')).toEqual({ body: '> a\n> b', quoted: null });
    expect(cutQuoted('The value is\n> 5\nand should be 6.\nFrom: here')).toEqual({
      body: 'The value is\n> 5\nand should be 6.\nFrom: here',
      quoted: null,
    });
    expect(cutQuoted('')).toEqual({ body: '', quoted: null });
  });

  it('takes linear time for lines made to be slow', () => {
    const text = `${'On '.repeat(200_000)}\n${'On a\n'.repeat(100_000)}${'>'.repeat(200_000)}`;
    const { body } = cutQuoted(text);
    expect(body.startsWith('On On')).toBe(true);
  });
});

describe('quoting', () => {
  it('puts each earlier message a level deeper, as long as there is room', () => {
    const said = [
      { at: 'Tuesday', by: 'Grace', body: 'One\ntwo' },
      { at: 'Monday', by: 'Ada', body: 'Before' },
    ];
    const wrote = ({ at, by }: { at: string; by: string }) => `On ${at}, ${by} wrote:`;
    expect(quotedHistory(said, wrote)).toBe('On Tuesday, Grace wrote:\n> One\n> two\n> On Monday, Ada wrote:\n>> Before\n');
    expect(quotedHistory([...said, { at: 'x', by: 'x', body: 'x'.repeat(9000) }], wrote)).not.toContain('xxx');
    expect(quotedHistory([], wrote)).toBe('');
  });
});
