// Debian's chromium. Records uncaught errors, console errors and requests to other origins.
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'
import { afterAll, expect } from 'vitest'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let launched: Promise<Browser> | undefined

const launch = (): Promise<Browser> => (launched ??= chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS }))

afterAll(async () => {
  await (await launched)?.close()
  launched = undefined
})

export interface BrowserVisit {
  page: Page
  context: BrowserContext
  /** Problems recorded so far. */
  problems: string[]
}

export async function openBrowser(origin: string, options: BrowserContextOptions = {}): Promise<BrowserVisit> {
  const context = await (
    await launch()
  ).newContext({ baseURL: origin, viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options })
  context.setDefaultTimeout(15_000)
  const problems: string[] = []
  context.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    if (/^(http|ws)s?:$/.test(protocol) && host !== new URL(origin).host) problems.push(`requests ${request.url()}`)
  })
  context.on('weberror', (error) => problems.push(`uncaught error: ${error.error().message}`))
  context.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(`console: ${message.text().split('\n')[0]}`)
  })
  return { page: await context.newPage(), context, problems }
}

/** Called at the end of a test. */
export const expectNoProblems = ({ problems }: BrowserVisit): void => expect(problems).toEqual([])
