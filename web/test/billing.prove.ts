// Prices are shown before a charge, and the forecast lists only what will be charged.
import { describe, expect, test } from 'vitest'
import { ActionFailedError } from '../../sdk/src/index.ts'
import { becomeFundedOwner, button, dialog, expectShown, heading } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { OWNER, startProduct } from './product.ts'
import { injectFault } from './faults.ts'

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
