// The examples of the documentation. `sh` is carried out; `console` needs other machines, and is only read; `text` is no command.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export const pages = ['README.md', 'cli/README.md', ...globSync('docs/{guide,operate}/*.md', { cwd: root }).sort()]

const allFencesOf = (page: string): { language: string; text: string }[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }))

export const fencesOf = (page: string, language: string): string[] =>
  allFencesOf(page)
    .filter((fence) => fence.language === language)
    .map(({ text }) => text)

export const languagesOf = (page: string): string[] => [...new Set(allFencesOf(page).map(({ language }) => language))]
