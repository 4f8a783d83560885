// Accessibility check of a page with axe: WCAG 2.2 AA.
import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface Axe {
  run: (options: object) => Promise<{ violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[] }>
}

const OPTIONS = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'] }

/** One line per violation. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async (options) => (globalThis as unknown as { axe: Axe }).axe.run(options), OPTIONS)
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
  )
}
