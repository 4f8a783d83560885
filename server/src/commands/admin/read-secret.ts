import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { UsageError } from '../errors.ts'

/** `-` is standard input. */
export const readSecret = async (file: string): Promise<string> =>
  (file === '-' ? await text(process.stdin) : await readFile(file, 'utf8').catch(unreadable(file))).trim()

export const unreadable = (file: string) => (error: Error) => {
  throw new UsageError(`${file} cannot be read: ${error.message}`)
}
