// Own images in the dashboard: made of a VM and a snapshot, imported, chosen for new and rebuilt VMs, and deleted once nothing needs them.
import { createHash } from 'node:crypto'
import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { bootableIso } from '../../server/test/bootable-iso.ts'
import { receiver } from '../../server/test/receiver.ts'
import { violations } from './axe.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { becomeFundedOwner, button, dialog, expectShown, fill, go, heading, link } from './page-actions.ts'
import { startProduct } from './product.ts'
import { open } from './screens.ts'

describe('own images', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const [regions, templates, plans] = await Promise.all([berth.regions.list(), berth.osTemplates.list(), berth.plans.list()])
  const created = await berth.vms.create({
    regionId: regions[0]!.id,
    osTemplateId: templates.find(({ available }) => available)!.id,
    planId: plans.find(({ slug }) => slug === 'small')!.id,
    hostname: 'web',
  })
  await berth.waitForAction(created)
  const row = (name: string): Locator => page.getByRole('row', { name: new RegExp(`^${name} `) })
  const choose = async (name: string, action: string): Promise<void> => {
    await button(page, `Actions for ${name}`).click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
  }
  const imageOf = async (name: string) => (await berth.images.list().all()).find((each) => each.name === name)

  test('the empty list leads to an image of a VM, with its price before it is made', async () => {
    await go(page, 'Images')
    await expectShown(page.getByText('No images yet'))
    await button(page, 'Create image').last().click()
    const make = button(dialog(page), 'Create image')
    expect(await make.isDisabled()).toBe(true)
    await fill(dialog(page), { Name: 'golden', Labels: 'team=web' })
    await dialog(page).getByLabel('VM', { exact: true }).selectOption('web')
    await expectShown(dialog(page).getByText(/^At most \$\d+\.\d\d a month/))
    expect(await violations(page)).toEqual([])
    await make.click()
    await expectShown(row('golden').getByText('Available'))
    await expectShown(row('golden').getByText('team=web'))
    await expectShown(row('golden').getByText('Disk', { exact: true }))
    expect(await violations(page)).toEqual([])
  })

  test('a file that cannot be fetched says why', async () => {
    await button(page, 'Create image').click()
    await dialog(page).getByLabel('Make it from').selectOption('A file at a URL')
    await fill(dialog(page), { Name: 'broken', URL: 'https://127.0.0.1:1/disk.qcow2', Checksum: 'sha256:none' })
    await expectShown(dialog(page).getByText('Must be sha256: and 64 hex digits in lower case.'))
    await fill(dialog(page), { Checksum: `sha256:${'0'.repeat(64)}` })
    await expectShown(dialog(page).getByText(/a month per GiB/))
    expect(await violations(page)).toEqual([])
    await button(dialog(page), 'Create image').click()
    await expectShown(row('broken').getByText('Failed', { exact: true }), 60_000)
    const { error } = (await imageOf('broken'))!
    await expectShown(row('broken').getByText(error!))
  })

  test('it is made of a snapshot where snapshots are', async () => {
    await berth.waitForAction(await berth.snapshots.create(created.vmId, { name: 'monday' }))
    await open(page, `/vms/${created.vmId}?tab=copies`)
    await choose('monday', 'Edit labels')
    await fill(dialog(page), { Labels: 'keep=yes' })
    await button(dialog(page), 'Save changes').click()
    await expectShown(row('monday').getByText('keep=yes'))
    expect((await berth.snapshots.list(created.vmId).all()).map(({ labels }) => labels)).toEqual([{ keep: 'yes' }])
    expect(await violations(page)).toEqual([])
    await choose('monday', 'Make image')
    await fill(dialog(page), { Name: 'frozen' })
    await button(dialog(page), 'Make image').click()
    await link(page, 'Show all images').click()
    await expectShown(row('frozen').getByText('Available'))
    await expectShown(row('frozen').getByText('Made of a snapshot of web'))
  })

  test('a VM is made from it, with a disk that is large enough', async () => {
    const { id, disk, defaultUser } = (await imageOf('golden'))!
    await choose('golden', 'New VM from this image')
    await expectShown(heading(page, 'Create a virtual machine'))
    const option = page.getByRole('radio', { name: /^golden/ })
    expect(await option.isChecked()).toBe(true)
    expect(await page.getByRole('radio', { name: /^broken/ }).count()).toBe(0)
    expect(await page.getByRole('radio', { name: /^Small/ }).isChecked()).toBe(true)
    expect(await page.getByLabel(/^Nano/).isDisabled()).toBe(true)
    await expectShown(page.getByText(new RegExp(`golden needs .* a disk of ${disk}\\sGiB`)))
    expect(await violations(page)).toEqual([])
    await page.getByLabel(/^Small/).check()
    await page.getByLabel('Hostname').fill('copy')
    await button(page, 'Create VM').click()
    await expectShown(heading(page, 'copy'))
    await expectShown(page.getByText('Running', { exact: true }))
    await expectShown(page.getByText(new RegExp(`^ssh ${defaultUser}@`)))
    const vm = (await berth.vms.list().all()).find(({ hostname }) => hostname === 'copy')!
    expect(vm.osTemplate.slug).toBe(`image-${id}`)
  })

  test('it is not deleted while a VM needs it', async () => {
    await go(page, 'Images')
    await choose('golden', 'Delete image')
    await expectShown(dialog(page).getByText(/Image golden is used by VM copy/))
    expect(await button(dialog(page), 'Delete image').isDisabled()).toBe(true)
    await button(dialog(page), 'Cancel').click()
    expect((await imageOf('golden'))!.status).toBe('AVAILABLE')
  })

  test('a VM is rebuilt from it, if its disk is large enough', async () => {
    const large = plans.find(({ slug }) => slug === 'medium')!
    const big = await berth.vms.create({
      regionId: regions[0]!.id,
      osTemplateId: templates.find(({ available }) => available)!.id,
      planId: large.id,
      hostname: 'big',
    })
    await berth.waitForAction(big)
    await berth.waitForAction(
      await berth.images.create({ name: 'wide', vmId: big.vmId }).then(({ actionId }) => ({ vmId: big.vmId, actionId })),
    )
    await open(page, `/vms/${created.vmId}?tab=settings`)
    await button(page, 'Rebuild VM').click()
    const select = dialog(page).getByLabel('Image', { exact: true })
    await expect.poll(() => select.locator('option', { hasText: /^wide \(needs a disk of/ }).isDisabled()).toBe(true)
    await select.selectOption('golden')
    await dialog(page).getByLabel('Type web to confirm').fill('web')
    await button(dialog(page), 'Rebuild VM').click()
    const { id } = (await imageOf('golden'))!
    await expect.poll(async () => (await berth.vms.get(created.vmId)).osTemplate.slug).toBe(`image-${id}`)
    await expect.poll(async () => (await berth.vms.get(created.vmId)).status).toBe('RUNNING')
  })

  test('an ISO image is imported, put into the drive of a VM, and taken out', async () => {
    await open(page, `/vms/${created.vmId}`)
    const choosePower = async (name: string): Promise<void> => {
      await button(page, 'More actions').click()
      await page.getByRole('menuitem', { name, exact: true }).click()
    }
    await choosePower('Attach ISO image')
    await expectShown(dialog(page).getByText('This account has no ISO images yet.'))
    expect(await button(dialog(page), 'Attach ISO image').isDisabled()).toBe(true)
    await button(dialog(page), 'Cancel').click()

    const bytes = bootableIso()
    const { url } = await receiver((response) => response.writeHead(200).end(bytes))
    const checksum = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    await berth.images.create({ name: 'installer', kind: 'ISO', url, checksum })
    await expect.poll(async () => (await imageOf('installer'))!.status, { timeout: 60_000 }).toBe('AVAILABLE')
    const iso = async () => (await berth.vms.get(created.vmId)).iso

    await open(page, `/vms/${created.vmId}`)
    await choosePower('Attach ISO image')
    const select = dialog(page).getByLabel('ISO image', { exact: true })
    expect(await select.locator('option').allTextContents()).toEqual(['installer'])
    await dialog(page).getByLabel('Restart the VM from it now').check()
    expect(await violations(page)).toEqual([])
    await button(dialog(page), 'Attach ISO image').click()
    await expectShown(page.getByText('ISO image installer is in its CD drive: it starts from it first.'), 60_000)
    expect(await iso()).toMatchObject({ name: 'installer', active: true })
    expect(await violations(page)).toEqual([])

    await button(page, 'Detach ISO image').first().click()
    await button(dialog(page), 'Detach ISO image').click()
    await expect.poll(iso, { timeout: 60_000 }).toBe(null)
    await page.getByText('ISO image installer is in its CD drive').waitFor({ state: 'hidden' })
    await berth.images.delete((await imageOf('installer'))!.id)
  })

  test('it is renamed, labelled and protected', async () => {
    await go(page, 'Images')
    await choose('frozen', 'Rename')
    await fill(dialog(page), { Name: 'thawed' })
    await button(dialog(page), 'Rename').click()
    await choose('thawed', 'Edit labels')
    await fill(dialog(page), { Labels: 'team=db\nenv=test' })
    await button(dialog(page), 'Save changes').click()
    await expectShown(row('thawed').getByText('env=test'))
    expect((await imageOf('thawed'))!.labels).toEqual({ team: 'db', env: 'test' })
    await choose('thawed', 'Protect against deletion')
    await expectShown(row('thawed').getByText('Protected'))
    await choose('thawed', 'Delete image')
    await expectShown(dialog(page).getByText(/is protected against deletion/))
    expect(await button(dialog(page), 'Delete image').isDisabled()).toBe(true)
    await button(dialog(page), 'Cancel').click()
    await choose('thawed', 'Remove protection')
    await expect.poll(async () => (await imageOf('thawed'))!.isProtected).toBe(false)
    await page.getByText('Protected', { exact: true }).waitFor({ state: 'detached' })
  })

  test('it is deleted with its refund, also where another page shows it', async () => {
    const beside = await owner.context.newPage()
    await beside.goto('/images')
    await expectShown(beside.getByText('thawed'))
    await choose('thawed', 'Delete image')
    await expectShown(dialog(page).getByText(/Refund: \$\d+\.\d\d\./))
    await button(dialog(page), 'Delete image').click()
    await row('thawed').waitFor({ state: 'detached' })
    await beside.getByText('thawed').waitFor({ state: 'detached' })
    await beside.close()
    expectNoProblems(owner)
  })
})
