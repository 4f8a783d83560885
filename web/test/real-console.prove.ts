// A customer in the browser on a real host: a VM is ordered, comes up, is sat in front of by text and by screen, is reached by ssh, and goes.
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { uriWithFiles } from '../../server/test/libvirt-host.ts'
import { berthdJson } from '../../server/test/processes.ts'
import { missingForRealHost, PATIENCE_MS, realProduct } from '../../server/test/real-product.ts'
import { becomeOwner, button, dialog, expectShown, fill, go, heading, link } from './acts.ts'
import { expectNoComplaint, visit } from './browser.ts'
import { OWNER } from './product.ts'

const PASSWORD = 'correct horse 7'
/** A prompt is more than this, a cursor or a logo's edge less. */
const PROMPT_PIXELS = 100

/** How many points of a screen are not dark. */
const brightPoints = (canvas: Locator): Promise<number> =>
  canvas.evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement
    const { data } = (element as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height)
    return data.filter((value, index) => index % 4 === 1 && value > 100).length
  })

describeIf(missingForRealHost())('a customer in the dashboard, on a real host', { timeout: 3 * PATIENCE_MS }, async () => {
  const product = await realProduct(uriWithFiles)
  const { settings, processes, ssh, box } = product
  const origin = new URL(processes.api.url).origin
  const guest = await visit(origin)
  const { page } = guest
  const screen = page.getByRole('region', { name: 'Console of seen' })
  const says = (words: string | RegExp): Promise<void> => expectShown(screen.getByText(words), PATIENCE_MS)
  const types = (line: string): Promise<void> => page.keyboard.type(`${line}\n`, { delay: 20 })

  test('signs in and orders the smallest VM at the price that is shown', async () => {
    const { url } = await berthdJson(settings, 'account', 'welcome')
    await becomeOwner(page, { welcome: `${origin}/welcome${new URL(url!).hash}` })
    await berthdJson(settings, 'account', 'credit', '--account', OWNER.email, '--amount', '100.00')
    await go(page, 'SSH keys')
    await button(page, 'Add SSH key').first().click()
    await fill(dialog(page), { Name: 'laptop', 'Public key': ssh.publicKey })
    await button(dialog(page), 'Add SSH key').click()
    await go(page, 'Virtual machines')
    await link(page, 'Create VM').first().click()
    await page.getByLabel(/^Tiny/).check()
    await page.getByLabel(/^Nano/).check()
    await fill(page, { 'Password for root': PASSWORD })
    await page.getByLabel('Host name').fill('seen')
    await page.getByRole('checkbox', { name: 'laptop' }).check()
    const price = await page.getByText('Charged now').locator('xpath=../dd').filter({ hasText: '$' }).innerText()
    expect(price).toMatch(/^\$\d+\.\d\d$/)
    await button(page, 'Create VM').click()
    await expectShown(heading(page, 'seen'))
    const progress = page.getByRole('progressbar', { name: 'Progress of Creating' })
    await expectShown(progress)
    await expectShown(page.getByRole('listitem').filter({ hasText: /^Boot Running/ }), PATIENCE_MS)
    expect(await box.virsh('list', '--all', '--name')).toMatch(/^berth-/)
    await progress.waitFor({ state: 'detached', timeout: PATIENCE_MS })
    await expectShown(page.getByText('Running', { exact: true }))
    await go(page, 'Wallet')
    await expectShown(page.getByRole('cell', { name: `-${price}` }))
    await page.goBack()
  })

  test('logs in at the text console and is answered by a shell', async () => {
    await page.getByRole('tab', { name: 'Console' }).click()
    await button(page, 'Open console').click()
    await expectShown(page.getByText('Connected'))
    await types('')
    await says(/seen login:/)
    await types('root')
    await says(/Password:/)
    await types(PASSWORD)
    await says(/#/)
    await types('echo $((6 * 7))-answers')
    await says(/42-answers/)
    await types('exit')
  })

  test('sees its screen, and what is typed there', async () => {
    await page.getByText('Screen (VNC)').click()
    await button(page, 'Open console').click()
    await expectShown(page.getByText('Connected'))
    const canvas = screen.locator('canvas')
    await expect.poll(() => brightPoints(canvas)).toBeGreaterThan(PROMPT_PIXELS)
    const before = await brightPoints(canvas)
    await types('root')
    await expect.poll(() => brightPoints(canvas)).toBeGreaterThan(before + PROMPT_PIXELS)
    await button(page, 'Close').click()
  })

  test('comes in by the ssh line that is shown', async () => {
    const line = await page.getByText(/^ssh root@/).innerText()
    const address = /^ssh root@([\d.]+)$/.exec(line)![1]!
    expect(await ssh.reached(address, 'hostname')).toBe('seen')
  })

  test('deletes it by typing its name', async () => {
    await page.getByRole('tab', { name: 'Settings' }).click()
    await button(page, 'Delete this VM').click()
    await dialog(page).getByLabel('Type seen to confirm').fill('seen')
    await button(dialog(page), 'Delete this VM').click()
    await expectShown(page.getByText('No virtual machines yet'), PATIENCE_MS)
    await expect.poll(() => box.virsh('list', '--all', '--name')).toBe('\n')
    expectNoComplaint(guest)
    expect(await product.broken()).toBe('')
  })
})
