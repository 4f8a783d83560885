// Code examples of the documentation. `sh` is executed; `console` needs other machines and is only parsed; `text` is not checked.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export const pages = ['README.md', 'cli/README.md', ...globSync('docs/{guide,operate}/*.md', { cwd: root }).sort()]

const allExamplesOf = (page: string): { language: string; text: string }[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }))

export const examplesOf = (page: string, language: string): string[] =>
  allExamplesOf(page)
    .filter((example) => example.language === language)
    .map(({ text }) => text)

export const languagesOf = (page: string): string[] => [...new Set(allExamplesOf(page).map(({ language }) => language))]
