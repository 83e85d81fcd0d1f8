/** Reads standard input to its end, as bytes or text. */
export async function readBytes(stdin: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks);
}

export async function readText(stdin: NodeJS.ReadableStream): Promise<string> {
  return (await readBytes(stdin)).toString('utf8');
}
