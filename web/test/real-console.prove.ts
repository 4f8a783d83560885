// The dashboard on a real host: create a VM, use both consoles, log in over SSH, delete the VM.
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { uriWithFiles } from '../../server/test/libvirt-host.ts'
import { berthdJson } from '../../server/test/processes.ts'
import { missingForRealHost, TIMEOUT_MS, realProduct } from '../../server/test/real-product.ts'
import { becomeOwner, button, dialog, expectShown, fill, go, heading, link } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { OWNER } from './product.ts'

const PASSWORD = 'correct horse 7'
/** A prompt has more bright pixels than this, a cursor or the edge of a logo fewer. */
const PROMPT_PIXELS = 100

/** Number of bright pixels. */
const countBrightPixels = (canvas: Locator): Promise<number> =>
  canvas.evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement
    const { data } = (element as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height)
    return data.filter((value, index) => index % 4 === 1 && value > 100).length
  })

describeIf(missingForRealHost())('a customer in the dashboard, on a real host', { timeout: 3 * TIMEOUT_MS }, async () => {
  const product = await realProduct(uriWithFiles)
  const { settings, processes, ssh, sandbox } = product
  const origin = new URL(processes.api.url).origin
  const guest = await openBrowser(origin)
  const { page } = guest
  const screen = page.getByRole('region', { name: 'Console of seen' })
  const expectOutput = (text: string | RegExp): Promise<void> => expectShown(screen.getByText(text), TIMEOUT_MS)
  const typeLine = (line: string): Promise<void> => page.keyboard.type(`${line}\n`, { delay: 20 })

  test('signs in and creates the smallest VM at the quoted price', async () => {
    const { url } = await berthdJson(settings, 'owner', 'invite')
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
    await page.getByLabel('Hostname').fill('seen')
    await page.getByRole('checkbox', { name: 'laptop' }).check()
    const price = await page.getByText('Due today').locator('xpath=../dd').filter({ hasText: '$' }).innerText()
    expect(price).toMatch(/^\$\d+\.\d\d$/)
    await button(page, 'Create VM').click()
    await expectShown(heading(page, 'seen'))
    const progress = page.getByRole('progressbar', { name: 'Progress of Creating' })
    await expectShown(progress)
    await expectShown(page.getByRole('listitem').filter({ hasText: /^Boot Running/ }), TIMEOUT_MS)
    expect(await sandbox.virsh('list', '--all', '--name')).toMatch(/^berth-/)
    await progress.waitFor({ state: 'detached', timeout: TIMEOUT_MS })
    await expectShown(page.getByText('Running', { exact: true }))
    await go(page, 'Wallet')
    await expectShown(page.getByRole('cell', { name: `-${price}` }))
    await page.goBack()
  })

  test('logs in on the serial console', async () => {
    await page.getByRole('tab', { name: 'Console' }).click()
    await button(page, 'Open console').click()
    await expectShown(page.getByText('Connected'))
    await typeLine('')
    await expectOutput(/seen login:/)
    await typeLine('root')
    await expectOutput(/Password:/)
    await typeLine(PASSWORD)
    await expectOutput(/#/)
    await typeLine('echo $((6 * 7))-answers')
    await expectOutput(/42-answers/)
    await typeLine('exit')
  })

  test('sees and types on the VNC console', async () => {
    await page.getByText('Screen (VNC)').click()
    await button(page, 'Open console').click()
    await expectShown(page.getByText('Connected'))
    const canvas = screen.locator('canvas')
    await expect.poll(() => countBrightPixels(canvas)).toBeGreaterThan(PROMPT_PIXELS)
    const before = await countBrightPixels(canvas)
    await typeLine('root')
    await expect.poll(() => countBrightPixels(canvas)).toBeGreaterThan(before + PROMPT_PIXELS)
    await button(page, 'Close').click()
  })

  test('logs in with the displayed SSH command', async () => {
    const line = await page.getByText(/^ssh root@/).innerText()
    const address = /^ssh root@([\d.]+)$/.exec(line)![1]!
    expect(await ssh.reached(address, 'hostname')).toBe('seen')
  })

  test('deletes the VM after typing its name', async () => {
    await page.getByRole('tab', { name: 'Settings' }).click()
    await button(page, 'Delete VM').click()
    await dialog(page).getByLabel('Type seen to confirm').fill('seen')
    await button(dialog(page), 'Delete VM').click()
    await expectShown(page.getByText('No virtual machines yet'), TIMEOUT_MS)
    await expect.poll(() => sandbox.virsh('list', '--all', '--name')).toBe('\n')
    expectNoProblems(guest)
    expect(await product.broken()).toBe('')
  })
})
