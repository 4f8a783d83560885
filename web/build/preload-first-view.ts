// The words of the user's language and the screen that the address names are fetched beside the program, instead of after it has begun and found
// out that it needs them. A script of a few lines does that, because which ones they are depends on the browser and the address.
import { hash } from 'node:crypto'
import type { Plugin, Rollup } from 'vite'

const LANGUAGES = ['en', 'de']
/** Where most visits begin. */
const SCREENS: Record<string, string> = { '/': 'screens/home/Home.tsx', '/vms': 'screens/vms/VmList.tsx' }

type Chunk = Rollup.OutputChunk
type Css = { viteMetadata?: { importedCss: Set<string> } }

function filesOf(chunk: Chunk, chunks: Map<string, Chunk>, seen = new Set<string>()): string[] {
  if (seen.has(chunk.fileName)) return []
  seen.add(chunk.fileName)
  const imported = chunk.imports.flatMap((name) => (chunks.has(name) ? filesOf(chunks.get(name)!, chunks, seen) : []))
  return [chunk.fileName, ...((chunk as Css).viteMetadata?.importedCss ?? []), ...imported]
}

const script = (words: Record<string, string[]>, screens: Record<string, string[]>): string => `{
  const words = ${JSON.stringify(words)}, screens = ${JSON.stringify(screens)}
  let chosen = null
  try {
    chosen = localStorage.getItem('berth:language')
  } catch {}
  const language = words[chosen] ? chosen : (navigator.languages.map((each) => each.toLowerCase().split('-')[0]).find((each) => words[each]) ?? 'en')
  for (const file of [...words[language], ...(screens[location.pathname] ?? [])]) {
    const link = document.createElement('link')
    if (file.endsWith('.css')) Object.assign(link, { rel: 'preload', as: 'style' })
    else link.rel = 'modulepreload'
    link.crossOrigin = ''
    link.href = '/' + file
    document.head.append(link)
  }
}
`

export const preloadFirstView: Plugin = {
  name: 'preload-first-view',
  apply: 'build',
  enforce: 'post',
  generateBundle(_, bundle) {
    const html = bundle['index.html'] as Rollup.OutputAsset | undefined
    if (!html) return
    const chunks = new Map(Object.values(bundle).flatMap((each) => (each.type === 'chunk' ? [[each.fileName, each] as const] : [])))
    const isLater = (file: string): boolean => !String(html.source).includes(file)
    const find = (matches: (chunk: Chunk) => boolean): string[] => {
      const chunk = [...chunks.values()].find(matches)
      if (!chunk) throw new Error('BUG: a chunk of the first view has another name')
      return filesOf(chunk, chunks).filter(isLater)
    }
    const words = Object.fromEntries(LANGUAGES.map((name) => [name, find((chunk) => chunk.name === `first-words-${name}`)]))
    const screens = Object.fromEntries(
      Object.entries(SCREENS).map(([path, file]) => [path, find((chunk) => chunk.facadeModuleId?.endsWith(file) ?? false)]),
    )
    const source = script(words, screens)
    const fileName = `assets/first-view-${hash('sha256', source, 'base64url').slice(0, 8)}.js`
    this.emitFile({ type: 'asset', fileName, source })
    html.source = String(html.source).replace('<title>', `<script src="/${fileName}"></script>\n    <title>`)
  },
}
