// Search over all guides, section by section. The pages are some hundred kilobytes of text: they are read once and gone through for each search.
import { ERROR_CATALOG, type ErrorCode } from '../../kernel/errors.ts'
import { escapeHtml } from '../server/html-page.ts'
import { contentsOf, partOf, read, type PartName } from './contents.ts'
import { anchorOf } from './markdown.ts'

const MOST_CHARACTERS = 100
const MOST_WORDS = 8
const MOST_RESULTS = 20
const EXCERPT = 180

interface Section {
  address: string
  part: string
  page: string
  heading: string
  text: string
  /** The text in lower case, for the search. */
  lower: string
}

interface Result {
  address: string
  /** The part of the documentation, and the page where the heading is another one. */
  place: string
  heading: string
  excerpt: string
}

let sections: Section[] | undefined

export function searchGuides(query: string): Result[] {
  const words = wordsOf(query)
  if (words.length === 0) return []
  const scored = (sections ??= readSections()).flatMap((section) => {
    const score = scoreOf(section, words)
    return score === 0 ? [] : [{ section, score }]
  })
  return scored
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MOST_RESULTS)
    .map(({ section }) => ({
      address: section.address,
      place: section.page === section.heading ? section.part : `${section.part} · ${section.page}`,
      heading: section.heading,
      excerpt: excerptOf(section, words),
    }))
}

export const wordsOf = (query: string): string[] =>
  query
    .slice(0, MOST_CHARACTERS)
    .toLowerCase()
    .split(/[^\p{L}\p{N}_.:-]+/u)
    .filter((word) => word.length > 1)
    .slice(0, MOST_WORDS)

/** The other characters of words mean themselves in a regular expression. */
const literal = (word: string): string => word.replaceAll('.', '\\.')

/** Every word must be in the section or in the title of its page; where it is decides how much it counts. */
function scoreOf({ page, heading, lower }: Section, words: string[]): number {
  const title = page.toLowerCase()
  const head = heading.toLowerCase()
  const scores = words.map((word) => {
    const times = Math.min(lower.split(word).length - 1, 5)
    const inHead = head.includes(word) ? (new RegExp(`(^|\\W)${literal(word)}`).test(head) ? 30 : 10) : 0
    return inHead + (title.includes(word) ? (page === heading ? 20 : 6) : 0) + times
  })
  return scores.some((score) => score === 0) ? 0 : scores.reduce((sum, score) => sum + score)
}

function excerptOf({ text, lower }: Section, words: string[]): string {
  const found = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const at = found.length === 0 ? 0 : Math.min(...found)
  const begin = at < 60 ? 0 : text.indexOf(' ', at - 60) + 1
  const cut = text.slice(begin, begin + EXCERPT)
  return `${begin > 0 ? '… ' : ''}${cut}${begin + EXCERPT < text.length ? ' …' : ''}`
}

function readSections(): Section[] {
  const parts = ['guides', 'handbook'] satisfies PartName[]
  const pages = parts.flatMap((part) => contentsOf(part).topics.flatMap((topic) => topic.pages))
  const guides = pages.flatMap(({ path, title }) => {
    const part = contentsOf(partOf(path.split('/')[0]!)).title
    return sectionsOf(read(`${path}.md`)).map(({ heading, text }) => ({
      address: `/docs/${path}${heading ? `#${anchorOf(heading)}` : ''}`,
      part,
      page: title,
      heading: heading || title,
      text,
    }))
  })
  const errors = sectionsOf(read('errors.md')).flatMap(({ heading, text }) => {
    const code = anchorOf(heading)
    return code in ERROR_CATALOG
      ? [
          {
            address: `/docs/errors/${code}`,
            part: 'Errors',
            page: code,
            heading: code,
            text: `${ERROR_CATALOG[code as ErrorCode].title}. ${text}`,
          },
        ]
      : []
  })
  return [...guides, ...errors].map((section) => ({ ...section, lower: section.text.toLowerCase() }))
}

/** The text before the first heading has none. */
function sectionsOf(markdown: string): { heading: string; text: string }[] {
  const fenced = markdown.replace(/```[^]*?```/g, (code) => code.replaceAll(/^#/gm, '\u0000'))
  return fenced.split(/^#{2,3} /m).map((part, index) => {
    const [first = '', ...rest] = part.split('\n')
    return { heading: index === 0 ? '' : plain(first), text: plain(rest.join('\n')) }
  })
}

const plain = (markdown: string): string =>
  markdown
    .replaceAll('\u0000', '#')
    .replace(/^```\w*$/gm, ' ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\|[-| :]+\|$/gm, ' ')
    .replace(/[`*|\\]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** HTML with the words of the query marked. */
export function marked(text: string, words: string[]): string {
  if (words.length === 0) return escapeHtml(text)
  const pattern = new RegExp(`(${words.map(literal).join('|')})`, 'gi')
  return text
    .split(pattern)
    .map((piece, index) => (index % 2 === 1 ? `<mark>${escapeHtml(piece)}</mark>` : escapeHtml(piece)))
    .join('')
}
