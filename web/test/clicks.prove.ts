// How many clicks frequent tasks take, as the guides for customers and operators say.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { becomeFundedOwner, button, dialog, expectShown, heading, link } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { OWNER, startProduct } from './product.ts'

const MOST = 5

/** Rows of the tables such as `| Drain a host | 4 |`. */
const WRITTEN = new Map(
  ['guide', 'operate'].flatMap((part) =>
    [...readFileSync(new URL(`../../docs/${part}/dashboard.md`, import.meta.url), 'utf8').matchAll(/^\| (.+) \| (\d+) \|$/gm)].map(
      ([, task, clicks]) => [task!, Number(clicks)] as const,
    ),
  ),
)

describe('clicks', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page, context } = owner
  let clicks = 0
  await context.exposeFunction('berthPressed', () => clicks++)
  await context.addInitScript({ content: "addEventListener('pointerdown', (event) => event.isTrusted && berthPressed(), true)" })
  const berth = await becomeFundedOwner(page, product)
  await berth.sshKeys.create({ name: 'laptop', publicKey: generateKey().line })
  const search = async (text: string, result: RegExp): Promise<void> => {
    await button(page, 'Search').click()
    await page.getByRole('combobox', { name: 'Search for' }).fill(text)
    await page.getByRole('option', { name: result }).click()
  }
  const tasks: Record<string, () => Promise<void>> = {}

  tasks['Create a VM and copy its SSH command'] = async () => {
    await link(page, 'Create VM').first().click()
    await page.getByLabel('Hostname').fill('first')
    await button(page, 'Create VM').click()
    await button(page, 'Copy SSH').click()
    await expectShown(button(page, 'Copied'))
    await expectShown(page.getByText('Running', { exact: true }))
  }

  tasks['Find the VM behind an address'] = async () => {
    const { items } = await berth.vms.list().page()
    await search(items[0]!.ipAddress!, /^first/)
    await expectShown(heading(page, 'first'))
  }

  tasks['Undo a mistake in a firewall'] = async () => {
    const firewall = await berth.firewalls.create({ name: 'web' })
    const rule = await berth.firewalls.addRule(firewall.id, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22' })
    await berth.firewalls.deleteRule(firewall.id, rule.id)
    await link(page, 'Firewalls').first().click()
    await link(page, 'web').first().click()
    await button(page, 'Undo change').click()
    await button(dialog(page), 'Undo change').click()
    await expectShown(page.getByText(/^Change undone/))
  }

  tasks['Refund a charge'] = async () => {
    await search(OWNER.email, /Account$/)
    await page.getByRole('tab', { name: 'Money' }).click()
    await page
      .getByRole('row', { name: /New VM/ })
      .getByRole('button')
      .click()
    await button(dialog(page), 'Refund').click()
    await expectShown(page.getByText(/^Refunded, the balance is/))
  }

  tasks['Drain a host, after reading its plan'] = async () => {
    const { items } = await berth.vms.list().page()
    await berth.waitForAction(await berth.vms.delete(items[0]!.id)) // there is no other host
    await page.getByRole('navigation', { name: 'Area' }).locator('a:not([aria-current])').click()
    await button(page, 'Actions for local').click()
    await page.getByRole('menuitem', { name: 'Drain host' }).click()
    await button(dialog(page), 'Drain host').click()
    await expectShown(page.getByRole('list', { name: 'Hosts' }).getByText(/^(Draining|Maintenance)$/))
  }

  /** From Home, with what the task is about in mind. Keys are not counted: what is typed is what only the user knows. */
  test.each([...WRITTEN])('%s: %s', async (name, written) => {
    await page.goto('/')
    await expectShown(heading(page, /Hello/))
    clicks = 0
    await tasks[name]!()
    expect(clicks).toBe(written)
    expect(clicks).toBeLessThanOrEqual(MOST)
    expectNoProblems(owner)
  })

  test('are written down for each task', () => expect([...WRITTEN.keys()]).toEqual(Object.keys(tasks)))
})
