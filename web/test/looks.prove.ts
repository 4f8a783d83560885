// What must not change by accident: a few screens that are the same every time, and the parts of the page /design, compared with pictures that
// somebody has looked at (web/test/looks). To take one again, delete it and run this twice.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { createServer } from 'vite'
import { openBrowser } from './browser.ts'
import { becomeOwner, expectShown } from './page-actions.ts'
import { startProduct } from './product.ts'
import { open } from './screens.ts'

const FOLDER = fileURLToPath(new URL('looks/', import.meta.url))
const VIEWPORT = { width: 1000, height: 640 }
/** Pictures are compared as tiles of so many pixels: the edges of letters differ between architectures, their place and colour do not. */
const TILE = 8
/** Of 255, in the mean of a tile. */
const MOST_PER_TILE = 20
const MOST_TILES = 0.01

/** Pictures that there were none of to compare with: they are to be looked at and committed. */
const taken: string[] = []

/** The share of tiles that differ, or a sentence. The browser decodes the pictures, so no library has to. */
const compare = (page: Page, expected: Buffer, found: Buffer): Promise<number | string> =>
  page.evaluate(
    async ({ pictures, tile, most }) => {
      const tilesOf = async (base64: string): Promise<{ size: string; means: number[] }> => {
        const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob())
        const { width, height } = picture
        const context = new OffscreenCanvas(width, height).getContext('2d')!
        context.drawImage(picture, 0, 0)
        const { data } = context.getImageData(0, 0, width, height)
        const across = Math.ceil(width / tile)
        const sums = new Float64Array(across * Math.ceil(height / tile) * 3)
        for (let y = 0; y < height; y++)
          for (let x = 0; x < width; x++)
            for (let channel = 0; channel < 3; channel++)
              sums[(Math.floor(y / tile) * across + Math.floor(x / tile)) * 3 + channel]! += data[(y * width + x) * 4 + channel]!
        return { size: `${width} × ${height}`, means: Array.from(sums, (sum) => sum / (tile * tile)) }
      }
      const [one, other] = await Promise.all(pictures.map(tilesOf))
      if (one!.size !== other!.size) return `is ${other!.size}, was ${one!.size}`
      const tiles = one!.means.length / 3
      let different = 0
      for (let index = 0; index < tiles; index++)
        if ([0, 1, 2].some((channel) => Math.abs(one!.means[index * 3 + channel]! - other!.means[index * 3 + channel]!) > most)) different++
      return different / tiles
    },
    { pictures: [expected, found].map((each) => each.toString('base64')), tile: TILE, most: MOST_PER_TILE },
  )

async function expectLook(page: Page, judge: Page, name: string, of: Page | Locator = page): Promise<void> {
  await page.evaluate(async () => {
    ;(document.activeElement as HTMLElement | null)?.blur()
    await document.fonts.ready
  })
  const found = await of.screenshot({ animations: 'disabled', caret: 'hide' })
  const file = `${FOLDER}${name}.png`
  if (!existsSync(file)) {
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(file, found)
    taken.push(name)
    return
  }
  const difference = await compare(judge, readFileSync(file), found)
  if (typeof difference === 'number' && difference <= MOST_TILES) return
  writeFileSync(`${FOLDER}${name}.found.png`, found)
  expect.fail(`${name} looks different (${typeof difference === 'number' ? `${(difference * 100).toFixed(1)} % of it` : difference})`)
}

describe.each(['light', 'dark'] as const)('in the %s theme', async (colorScheme) => {
  const product = await startProduct()
  const options = { viewport: VIEWPORT, colorScheme, deviceScaleFactor: 1 }
  const stranger = await openBrowser(product.origin, options)
  const owner = await openBrowser(product.origin, options)
  const judge = (await openBrowser(product.origin)).page
  await becomeOwner(owner.page, product)

  test('the sign-in page looks as it did', async () => {
    await stranger.page.goto('/sign-in')
    await expectShown(stranger.page.getByRole('heading', { name: 'Sign in' }))
    await expectLook(stranger.page, judge, `sign-in ${colorScheme}`)
  })

  test.each([
    ['a page that does not exist', '/no-such-page', 'not-found'],
    ['an empty list', '/ssh-keys', 'empty-list'],
    ['an empty list of the operator', '/operator/orphaned-volumes', 'empty-operator-list'],
  ])('%s looks as it did', async (_, path, name) => {
    await open(owner.page, path)
    await expectLook(owner.page, judge, `${name} ${colorScheme}`, owner.page.locator('#content'))
  })
})

describe('the parts', async () => {
  const server = await createServer({
    root: fileURLToPath(new URL('..', import.meta.url)),
    configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
    server: { port: 0, host: '127.0.0.1' },
    logLevel: 'error',
  })
  await server.listen()
  afterAll(() => server.close())
  const origin = new URL(server.resolvedUrls!.local[0]!).origin

  test.each(['light', 'dark'] as const)('look as they did in the %s theme', { timeout: 240_000 }, async (colorScheme) => {
    const { page } = await openBrowser(origin, { viewport: VIEWPORT, colorScheme, deviceScaleFactor: 1 })
    page.setDefaultTimeout(120_000)
    await page.goto('/design')
    await expectShown(page.getByRole('heading', { name: 'Design' }), 120_000)
    for (const part of ['type', 'colours', 'statuses', 'icons'])
      await expectLook(page, page, `part ${part} ${colorScheme}`, page.locator(`#${part}`))
  })
})

test('every picture was there', () => expect(taken).toEqual([]))
