// What there is to read, in its order, as docs/contents.json says: the customers' guides by topic, and the operators' handbook.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DOCS } from '../../kernel/paths.ts'

export type PartName = 'guides' | 'handbook'

interface Part {
  title: string
  about: string
  topics: Topic[]
}

interface Topic {
  title: string
  pages: Page[]
}

export interface Page {
  /** Within /docs and the folder docs. */
  path: string
  title: string
}

/** The names of the pages by folder and topic. A page that is in no topic follows in the last one of its folder. */
const PARTS = JSON.parse(readFileSync(join(DOCS, 'contents.json'), 'utf8')) as Record<
  PartName,
  { title: string; about: string; folders: Record<string, Record<string, string[]>> }
>

export const read = (file: string): string => readFileSync(join(DOCS, file), 'utf8')

export const namesOf = (folder: string): string[] =>
  readdirSync(join(DOCS, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -3))

export const FOLDERS = Object.values(PARTS).flatMap(({ folders }) => Object.keys(folders))

export const partOf = (folder: string): PartName => (folder in PARTS.guides.folders ? 'guides' : 'handbook')

export function contentsOf(name: PartName): Part {
  const { title, about, folders } = PARTS[name]
  return { title, about, topics: Object.entries(folders).flatMap(([folder, topics]) => topicsOf(folder, topics)) }
}

function topicsOf(folder: string, topics: Record<string, string[]>): Topic[] {
  const listed = new Set(Object.values(topics).flat())
  const others = namesOf(folder)
    .filter((name) => !listed.has(name))
    .toSorted()
  const last = Object.keys(topics).at(-1)
  return Object.entries(topics).map(([title, names]) => ({
    title,
    pages: [...names, ...(title === last ? others : [])].map((name) => pageOf(`${folder}/${name}`)),
  }))
}

const pageOf = (path: string): Page => ({ path, title: /^# (.+)$/m.exec(read(`${path}.md`))?.[1] ?? path })

/** Those before and after it in its part. */
export function neighboursOf(path: string): { before: Page | undefined; after: Page | undefined } {
  const pages = contentsOf(partOf(path.split('/')[0]!)).topics.flatMap((topic) => topic.pages)
  const at = pages.findIndex((page) => page.path === path)
  return { before: pages[at - 1], after: pages[at + 1] }
}
