// The examples of the documentation. `sh` is carried out; `console` needs other machines, and is only read; `text` is no command.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export const pages = globSync('docs/{guide,operate}/*.md', { cwd: root }).sort()

export const fencesOf = (page: string, language: string): string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text!)
