// Accessibility check of a page with axe: WCAG 2.2 AA.
import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface Axe {
  run: (within: string, options: object) => Promise<{ violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[] }>
}

const OPTIONS = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'] }

/** One line per violation. `within` is a selector. */
export async function violations(page: Page, within = 'html'): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async ([selector, options]) => (globalThis as unknown as { axe: Axe }).axe.run(selector, options), [
    within,
    OPTIONS,
  ] as const)
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
  )
}
