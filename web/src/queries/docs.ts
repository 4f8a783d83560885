// The pages of the documentation, as its table of contents lists them. They are the server's own pages, so they are read as HTML.
import { queryOptions } from '@tanstack/react-query'

export interface DocsPage {
  title: string
  path: string
  /** The part of the documentation that it is in. */
  section: string
}

async function readContents(signal: AbortSignal): Promise<DocsPage[]> {
  const response = await fetch('/docs/guides', { signal, headers: { accept: 'text/html' } })
  if (!response.ok) return []
  const contents = new DOMParser().parseFromString(await response.text(), 'text/html')
  const pages = new Map<string, DocsPage>()
  for (const link of contents.querySelectorAll<HTMLAnchorElement>('main a[href^="/docs/"], article a[href^="/docs/"]')) {
    const path = link.getAttribute('href')!
    const title = link.textContent.trim()
    if (!path.includes('#') && title !== '') pages.set(path, { path, title, section: sectionOf(link) })
  }
  return [...pages.values()]
}

/** The heading above it. */
function sectionOf(link: Element): string {
  for (let at: Element | null = link.closest('ul, ol, section'); at; at = at.previousElementSibling) {
    if (at.matches('h2')) return at.textContent.trim()
  }
  return ''
}

export const docsQuery = queryOptions({ queryKey: ['docs'], queryFn: ({ signal }) => readContents(signal), staleTime: Infinity })
