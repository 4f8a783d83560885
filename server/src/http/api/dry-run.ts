// Dry runs. Unknown query parameters are ignored, except this one: its sender relies on no effect.
import type { FastifyRequest } from 'fastify'
import { invalid } from '../../kernel/errors.ts'

/** Also `dryrun`, `dry_run`, `dry-run` and `dryRun[]`. */
const meansDryRun = (name: string): boolean => name.replace(/[^a-z]/gi, '').toLowerCase() === 'dryrun'

export function refuseImpossibleDryRun({ method, query, routeOptions }: FastifyRequest): void {
  const { offersDryRun, route } = routeOptions.config
  if (offersDryRun === undefined) return
  const names = Object.keys(query as object).filter(meansDryRun)
  if (names.length === 0) return
  if (!offersDryRun) throw invalid(`${method} ${route} has no dry run; nothing was done`, 'dryRun')
  if (names.some((name) => name !== 'dryRun')) throw invalid('a dry run is asked for with dryRun=true; nothing was done', 'dryRun')
}

/** Validation replaces the text by a boolean. */
export const isDryRun = ({ query, routeOptions }: FastifyRequest): boolean =>
  routeOptions.config.offersDryRun === true && String((query as { dryRun?: unknown }).dryRun) === 'true'
