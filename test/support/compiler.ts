/** Runs the TypeScript compiler on the checkout together with files that exist only in memory. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** The absolute path of a file in the checkout. */
export function at(path: string): string {
  return join(ROOT, path);
}

/** The diagnostics of `roots` under the project's options, one line each. */
export function diagnosticsOf(inMemory: ReadonlyMap<string, string>, roots: readonly string[]): readonly string[] {
  const { config } = ts.readConfigFile(at('tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: ['tsconfig.json'] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => inMemory.has(path) || fileExists(path);
  host.readFile = (path) => inMemory.get(path) ?? readFile(path);
  host.getSourceFile = (path, target, ...rest) => {
    const text = inMemory.get(path);
    return text === undefined ? getSourceFile(path, target, ...rest) : ts.createSourceFile(path, text, target);
  };
  const program = ts.createProgram(roots, options, host);
  const found = roots.flatMap((path) => program.getSemanticDiagnostics(program.getSourceFile(path)));
  return found.map(({ code, file, messageText }) => `${file?.fileName}: TS${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
}
