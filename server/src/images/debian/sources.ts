// The apt sources of this machine that are Debian's own, for one release: third-party sources must not end up in guests.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const APT = '/etc/apt'

/** One-line entries and deb822 stanzas, each for a file with that suffix. */
export interface Sources {
  list: string
  sources: string
}

export async function debianSources(release: string): Promise<Sources> {
  const parts = (await readdir(join(APT, 'sources.list.d')).catch(() => [])).map((name) => join('sources.list.d', name))
  const chosen: Sources = { list: '', sources: '' }
  for (const name of ['sources.list', ...parts.toSorted()]) {
    const text = await readFile(join(APT, name), 'utf8').catch(() => '') // either may be missing
    if (name.endsWith('.list')) chosen.list += linesOf(text, release)
    if (name.endsWith('.sources')) chosen.sources += stanzasOf(text, release)
  }
  if (chosen.list || chosen.sources) return chosen
  throw new Error(`apt on this machine has no source for Debian ${release}. Build on a machine with Debian ${release}, or import the image`)
}

/** deb [options] uri suite component… */
export function linesOf(text: string, release: string): string {
  const lines = text.split('\n').filter((line) => {
    const [type, , suite, ...components] = line
      .replace(/\[[^\]]*\]/, '')
      .trim()
      .split(/\s+/)
    return type === 'deb' && isDebian([suite ?? ''], components, release)
  })
  return lines.map((line) => `${line.trim()}\n`).join('')
}

export function stanzasOf(text: string, release: string): string {
  const stanzas = text.split(/\n\s*\n/).filter((stanza) => {
    const words = (field: string): string[] => (new RegExp(`^${field}:(.*)$`, 'im').exec(stanza)?.[1] ?? '').trim().split(/\s+/)
    return words('Types').includes('deb') && words('Enabled')[0] !== 'no' && isDebian(words('Suites'), words('Components'), release)
  })
  return stanzas.map((stanza) => `${stanza.trim()}\n\n`).join('')
}

const isDebian = (suites: string[], components: string[], release: string): boolean =>
  components.includes('main') && suites.every((suite) => [release, `${release}-updates`, `${release}-security`].includes(suite))
