// Deletes several of a list, each by a request of its own: what it would do to each, and give back, is shown before, and what refused after.
import { Button } from '@mantine/core'
import type { Quote } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../api/client.ts'
import { errorMessage, hasCode, isNotFound } from '../api/errors.ts'
import { commonMessages, listMessages } from '../words/words.ts'
import { Loaded } from './AsyncState.tsx'
import { ConfirmDialog, Dialog } from './Dialogs.tsx'
import { formatMoney } from './format.ts'
import { Stack } from './Page.tsx'
import { Table } from './Table.tsx'

const w = listMessages.bulkDelete

interface Named {
  id: string
  name: string
}

interface BulkDeleteProps<Row extends Named> {
  rows: Row[]
  words: { title: string; about: string; submit: string }
  /** Typed before, where data is lost. */
  confirm?: string
  /** Why it cannot be deleted. */
  obstacleOf?: (row: Row) => string | null
  /** What deleting it gives back. */
  quote?: (row: Row, signal: AbortSignal) => Promise<Quote>
  remove: (row: Row) => Promise<unknown>
  invalidates: string[]
  onClose: () => void
}

interface Effect {
  quote: Quote | null
  obstacle: string | null
}

/** So many requests at once: browsers have no more connections, and the server counts them. */
const AT_ONCE = 4

async function forEach<Item>(items: Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values()
  const work = async (): Promise<void> => {
    for (const item of waiting) await act(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

export function BulkDelete<Row extends Named>(props: BulkDeleteProps<Row>) {
  const { words, confirm, remove, invalidates, onClose } = props
  const [rows] = useState(props.rows) // those that are deleted leave the list
  const [refused, setRefused] = useState<Refusals | null>(null)
  const effects = useEffects(rows, props)
  const possible = rows.filter(({ id }) => effects.data?.get(id)?.obstacle === null)
  const write = useWrite(
    async () => {
      const refusals = new Map<string, string>()
      await forEach(possible, async (row) => {
        try {
          await remove(row)
        } catch (error) {
          if (hasCode(error, 'reauthentication_required')) throw error
          if (!isNotFound(error)) refusals.set(row.id, errorMessage(error)) // another request has deleted it
        }
      })
      return refusals
    },
    { inForm: true, invalidates, successMessage: ({ size }) => w.done(possible.length - size, size) },
  )
  if (refused)
    return (
      <Dialog title={words.title} onClose={onClose} size="lg">
        <Stack gap={14}>
          <output>{w.done(possible.length - refused.size, refused.size)}</output>
          <Results rows={rows} resultOf={({ id }) => refused.get(id) ?? effects.data?.get(id)?.obstacle ?? w.deleted} />
          <Button onClick={onClose} style={{ alignSelf: 'flex-end' }}>
            {commonMessages.close}
          </Button>
        </Stack>
      </Dialog>
    )
  return (
    <ConfirmDialog
      title={words.title}
      submit={words.submit}
      write={write}
      onClose={onClose}
      onDone={(refusals) => (refusals.size === 0 ? onClose() : setRefused(refusals))}
      disabled={possible.length === 0}
      {...(confirm !== undefined && { name: confirm })}
    >
      <Stack gap={12}>
        <p className="muted">{words.about}</p>
        <Loaded of={effects}>
          {(found) => (
            <>
              <p>{summaryOf(rows, found)}</p>
              <Results rows={rows} resultOf={({ id }) => effectText(found.get(id))} />
            </>
          )}
        </Loaded>
      </Stack>
    </ConfirmDialog>
  )
}

/** By the id of what it is about. */
type Refusals = ReadonlyMap<string, string>
type Effects = ReadonlyMap<string, Effect>

const useEffects = <Row extends Named>(rows: Row[], { obstacleOf, quote }: BulkDeleteProps<Row>) =>
  useQuery({
    queryKey: ['quote', 'delete', rows.map(({ id }) => id)],
    queryFn: async ({ signal }): Promise<Effects> => {
      const found = new Map<string, Effect>()
      await forEach(rows, async (row) => {
        const obstacle = obstacleOf?.(row) ?? null
        try {
          found.set(row.id, { obstacle, quote: obstacle === null && quote ? await quote(row, signal) : null })
        } catch (error) {
          found.set(row.id, { obstacle: errorMessage(error), quote: null })
        }
      })
      return found
    },
    gcTime: 0, // a reopened dialog asks again
    refetchOnWindowFocus: false,
  })

/** In cents. */
const amountOf = ({ charge }: Quote): number => -Math.round(Number(charge) * 100)

const effectText = (effect: Effect | undefined): string =>
  effect?.obstacle ?? (effect?.quote && amountOf(effect.quote) > 0 ? refundOf([effect.quote]) : w.free)

const refundOf = (quotes: Quote[]): string =>
  w.refund(formatMoney((quotes.reduce((sum, quote) => sum + amountOf(quote), 0) / 100).toFixed(2), quotes[0]!.currency))

function summaryOf(rows: Named[], effects: Effects): string {
  const all = [...effects.values()]
  const refused = all.filter(({ obstacle }) => obstacle !== null).length
  const quotes = all.flatMap(({ quote }) => (quote && amountOf(quote) > 0 ? [quote] : []))
  return [w.summary(rows.length - refused, refused), ...(quotes.length > 0 ? [refundOf(quotes)] : [])].join(' ')
}

const Results = <Row extends Named>({ rows, resultOf }: { rows: Row[]; resultOf: (row: Row) => string }) => (
  <Table
    caption={w.table}
    rows={rows}
    rowKey={({ id }) => id}
    columns={[
      { head: commonMessages.name, cell: ({ name }) => name, truncate: ({ name }) => name },
      { head: w.result, cell: resultOf },
    ]}
  />
)
