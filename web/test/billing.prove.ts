// Prices are shown before a charge, and the forecast lists only what will be charged.
import { describe, expect, test } from 'vitest'
import { ActionFailedError } from '../../sdk/src/index.ts'
import { openDb, sql } from '../../server/src/kernel/database/db.ts'
import { becomeFundedOwner, button, dialog, expectShown, fill, heading, holdResponses } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { OWNER, startProduct } from './product.ts'
import { injectFault } from './faults.ts'
import { seedAccount } from './seed-account.ts'

describe('a VM whose provisioning failed', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const adjust = (amount: string) => product.run('account', 'adjust', '--account', OWNER.email, '--amount', amount, '--reason', 'proof')
  const submit = button(dialog(page), 'Rebuild VM')
  let vmId = ''

  const openRebuildDialog = async (): Promise<void> => {
    await page.goto(`/vms/${vmId}?tab=settings`)
    await expectShown(page.getByText(/^Provisioning failed and the charge was refunded/))
    await button(page, 'Rebuild VM').click()
    await dialog(page).getByLabel('Type web to confirm').fill('web')
  }

  test('is refunded', async () => {
    await injectFault(product, { verb: 'ensureDisk', kind: 'permanent' })
    const [regions, templates, plans] = await Promise.all([berth.regions.list(), berth.osTemplates.list(), berth.plans.list()])
    const creation = await berth.vms.create({
      regionId: regions[0]!.id,
      osTemplateId: templates.find(({ available }) => available)!.id,
      planId: plans.find(({ slug }) => slug === 'small')!.id,
      hostname: 'web',
      sshKeyIds: [],
      password: 'a long enough sentence 1',
    })
    vmId = creation.vmId
    await expect(berth.waitForAction(creation)).rejects.toThrow(ActionFailedError)
    expect((await berth.wallet.get()).balance).toBe('100.00')
  })

  test('cannot be rebuilt with insufficient funds', async () => {
    await adjust('-95.00')
    await openRebuildDialog()
    await expectShown(dialog(page).getByText('Insufficient wallet balance: 6.00 USD required, 5.00 USD available'))
    expect(await submit.isDisabled()).toBe(true)
    await adjust('95.00')
  })

  test('can be rebuilt only after its price is shown', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    await page.route(/dryRun=true/, async (route) => {
      asked.resolve()
      await answer.promise
      await route.continue()
    })
    await openRebuildDialog()
    await asked.promise
    expect(await submit.isDisabled()).toBe(true)
    answer.resolve()
    await expectShown(dialog(page).getByText('Due today: $6.00. Balance after: $94.00.'))
    expect(await dialog(page).getByText('the price stay').count()).toBe(0)
    await submit.click()
    await page.getByRole('tab', { name: 'Overview' }).click()
    await expectShown(heading(page, 'web'))
    await expect.poll(async () => (await berth.vms.get(vmId)).status).toBe('RUNNING')
    await expectShown(page.getByText('Running', { exact: true }))
    expect((await berth.wallet.get()).balance).toBe('94.00')
  })

  test('is in the renewal forecast until it is unmanaged', async () => {
    await page.goto('/wallet')
    const renewals = page.getByRole('table', { name: 'Forecast' })
    await expectShown(renewals.getByRole('cell', { name: '$88.00' }))
    await product.run('vm', 'unmanage', vmId, '--yes')
    await page.reload()
    await expectShown(page.getByText('No upcoming renewals.'))
    expectNoProblems(owner)
  })
})

describe('a snapshot or backup', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const { vmId } = await seedAccount(berth)
  const priced = dialog(page).getByText(
    /^Due today: \$\d+\.\d\d\. New monthly price of the VM: \$\d+\.\d\d\. Balance after: \$\d+\.\d\d\.$/,
  )
  const copiesOf = page.locator('dl').getByText('of which snapshots and backups')

  test('says nothing of a price where copies are free', async () => {
    await page.goto(`/vms/${vmId}`)
    await expectShown(page.getByText('Monthly price'))
    expect(await copiesOf.count()).toBe(0)
    await page.goto(`/vms/${vmId}?tab=copies`)
    await button(page, 'Create snapshot').click()
    await fill(dialog(page), { Name: 'free' })
    await button(dialog(page), 'Create snapshot').click()
    await expectShown(page.getByRole('row', { name: /free.*Available/ }))
    expect((await berth.wallet.get()).balance).toBe('88.00')
  })

  test.each([
    ['snapshots', 'Create snapshot'],
    ['backups', 'Create backup'],
  ])('of %s is created only after its price is shown', async (kind, create) => {
    const db = openDb({ url: product.databaseUrl, maxConnections: 1, onError: () => {} })
    await db.run(sql`update catalog_values set value = 10 where name = 'price.copies_gib'`)
    await db.close()
    const before = Number((await berth.wallet.get()).balance)
    await page.goto(`/vms/${vmId}?tab=copies`)
    const quotes = await holdResponses(page, /dryRun=true/)
    await button(page, create).click()
    await fill(dialog(page), { Name: `priced ${kind}` })
    await quotes.requested
    expect(await button(dialog(page), create).isDisabled()).toBe(true)
    await quotes.release()
    await expectShown(priced)
    const due = Number(/\$(\d+\.\d\d)/.exec(await priced.innerText())![1])
    await button(dialog(page), create).click()
    await expectShown(page.getByRole('row', { name: new RegExp(`priced ${kind}.*Available`) }))
    expect(Number((await berth.wallet.get()).balance)).toBeCloseTo(before - due, 2)
  })

  test('is part of the price that the VM shows', async () => {
    await page.goto(`/vms/${vmId}`)
    await expectShown(copiesOf)
    const { copiesPriceMonthly } = await berth.vms.get(vmId)
    await expectShown(copiesOf.locator('xpath=..').getByText(`$${copiesPriceMonthly}`, { exact: true }))
    expectNoProblems(owner)
  })
})
