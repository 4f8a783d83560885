// Every link of the documentation works: on the served pages, and between the files of the repository.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anchorOf } from '../src/http/docs/markdown.ts'
import { ERROR_CATALOG } from '../src/kernel/errors.ts'
import { testApp } from './harness.ts'

/** Served files that other tests check. */
const DASHBOARD = ['/', '/favicon.svg']

const root = join(import.meta.dirname, '../..')

describe('the pages of a running product', async () => {
  const { app, clock } = await testApp()
  const seen = new Map<string, string>()
  const dead: string[] = []

  const visit = async (address: string, from: string): Promise<void> => {
    const [path = '', anchor] = address.split('#')
    if (!seen.has(path)) {
      clock.advance('2s') // stays below the rate limit of the address
      const { statusCode, body, headers } = await app.inject({ url: path })
      seen.set(path, statusCode === 200 ? body : '')
      if (statusCode !== 200) dead.push(`${from} → ${address}: ${statusCode}`)
      else if (/html/.test(String(headers['content-type'])))
        for (const [, href] of body.matchAll(/(?:href|src)="([^"]+)"/g)) await follow(href!, path)
    }
    if (anchor && !seen.get(path)!.includes(`id="${anchor}"`)) dead.push(`${from} → ${address}: no such heading`)
  }
  const follow = async (href: string, from: string): Promise<void> => {
    if (href.startsWith('#')) return visit(`${from}${href}`, from)
    if (DASHBOARD.includes(href)) return
    if (href.startsWith('/')) return visit(href, from)
    if (!/^https:\/\/[\w.-]+(\/|$)/.test(href)) dead.push(`${from} → ${href}: neither a page nor a whole address`)
  }

  test('are all reachable from the first page', async () => {
    await visit('/docs/guides', 'start')
    expect(dead).toEqual([])
    expect(seen.size).toBeGreaterThan(60)
  })

  test.each(Object.keys(ERROR_CATALOG))('document the error %s', async (code) => {
    const body = seen.get(`/docs/errors/${code}`) ?? ''
    expect(body.replace(/^[^]*<main[^>]*>|<[^>]+>/g, ' ').length).toBeGreaterThan(120)
  })

  test('contain no markup from user text', async () => {
    const { renderMarkdown } = await import('../src/http/docs/markdown.ts')
    const { html } = renderMarkdown(
      '# a <b>\n\n<script>x</script> `<i>` [x"y](javascript:alert)\n\n| <u> |\n|---|\n| a \\| b |',
      (to) => to,
    )
    expect(html).not.toMatch(/<(b|script|i|u)>/)
    expect(html).toContain('a | b')
  })
})

describe('the files of the repository', () => {
  const files = globSync(['*.md', '{docs,cli,sdk,libvirt}/**/*.md'], { cwd: root, exclude: (name) => name.includes('node_modules') })
  const anchorsOf = (path: string): string[] =>
    !path.endsWith('.md') ? [] : [...readFileSync(path, 'utf8').matchAll(/^#{1,4} (.+)$/gm)].map(([, title]) => anchorOf(title!))

  test.each(files)('%s has no dead links', (file) => {
    const text = readFileSync(join(root, file), 'utf8').replace(/^```.*?^```$/gms, '')
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https:|\/docs|#)/.test(target!)) continue
      const [path = '', anchor] = target!.split('#')
      const found = join(root, dirname(file), path)
      expect(existsSync(found), `${file} → ${target}`).toBe(true)
      expect(['', undefined, ...anchorsOf(found)], `${file} → ${target}`).toContain(anchor)
    }
  })
})
