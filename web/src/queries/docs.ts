// The pages of the documentation, as its tables of contents list them. They are the server's own pages, so they are read as HTML.
import { queryOptions } from '@tanstack/react-query'

export interface DocsPage {
  title: string
  path: string
  /** The part of the documentation that it is in. */
  section: string
}

/** The customers' guides, and the operators' handbook. */
const CONTENTS = ['/docs/guides', '/docs/handbook']

async function readContents(address: string, signal: AbortSignal): Promise<DocsPage[]> {
  const response = await fetch(address, { signal, headers: { accept: 'text/html' } })
  if (!response.ok) return []
  const contents = new DOMParser().parseFromString(await response.text(), 'text/html')
  return [...contents.querySelectorAll<HTMLAnchorElement>('main a[href^="/docs/"]')]
    .map((link) => ({ path: link.getAttribute('href')!, title: link.textContent.trim(), section: sectionOf(link) }))
    .filter(({ path, title }) => !path.includes('#') && title !== '')
}

async function readAll(signal: AbortSignal): Promise<DocsPage[]> {
  const pages = (await Promise.all(CONTENTS.map((address) => readContents(address, signal)))).flat()
  return [...new Map(pages.map((page) => [page.path, page])).values()]
}

/** The heading above it. */
function sectionOf(link: Element): string {
  for (let at: Element | null = link.closest('ul, ol, section'); at; at = at.previousElementSibling) {
    if (at.matches('h2')) return at.textContent.trim()
  }
  return ''
}

export const docsQuery = queryOptions({ queryKey: ['docs'], queryFn: ({ signal }) => readAll(signal), staleTime: Infinity })
