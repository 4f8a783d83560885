import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { Query } from '@berth/sdk'
import { berth } from '../api/berth.ts'
import { sessionQuery } from '../api/session.ts'

const walletQuery = queryOptions({ queryKey: ['wallet'], queryFn: ({ signal }) => berth.wallet.get({ signal }) })

/** A project has none. */
export function useWallet() {
  const account = useQuery(sessionQuery).data?.account
  return useQuery({ ...walletQuery, enabled: account?.isProject === false })
}

export const limitsQuery = queryOptions({ queryKey: ['limits'], queryFn: ({ signal }) => berth.account.limits({ signal }) })
export const bandwidthQuery = queryOptions({
  queryKey: ['bandwidth'],
  queryFn: ({ signal }) => berth.bandwidth.list({ signal }),
  refetchInterval: 30_000,
})

export const transactionsQuery = (query: Query<'listWalletTransactions'>) =>
  queryOptions({
    queryKey: ['wallet', 'transactions', query],
    queryFn: ({ signal }) => berth.wallet.transactions(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })

export const depositsQuery = queryOptions({
  queryKey: ['wallet', 'deposits'],
  queryFn: ({ signal }) => berth.deposits.list({ limit: 10 }, { signal }).page(),
})

export const transactionQuery = (id: string) =>
  queryOptions({ queryKey: ['wallet', 'transactions', 'one', id], queryFn: ({ signal }) => berth.wallet.transaction(id, { signal }) })

export const costsQuery = (query: Query<'getWalletCosts'>) =>
  queryOptions({
    queryKey: ['wallet', 'costs', query],
    queryFn: ({ signal }) => berth.wallet.costs(query, { signal }),
    placeholderData: keepPreviousData,
  })

export const timelineQuery = queryOptions({
  queryKey: ['wallet', 'timeline'],
  queryFn: ({ signal }) => berth.wallet.timeline({ days: 90 }, { signal }),
  refetchInterval: 60_000,
})

export const invoicesQuery = (query: Query<'listInvoices'>) =>
  queryOptions({
    queryKey: ['wallet', 'invoices', query],
    queryFn: ({ signal }) => berth.invoices.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })

export const invoiceQuery = (id: string) =>
  queryOptions({ queryKey: ['wallet', 'invoices', 'one', id], queryFn: ({ signal }) => berth.invoices.get(id, { signal }) })

export const auditQuery = (query: Query<'listAuditLog'>) =>
  queryOptions({
    queryKey: ['audit', query],
    queryFn: ({ signal }) => berth.account.auditLog(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })

export const sshKeysQuery = (query: Query<'listSshKeys'> = { limit: 100 }) =>
  queryOptions({
    queryKey: ['ssh-keys', query],
    queryFn: ({ signal }) => berth.sshKeys.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })

export const ticketsQuery = (query: Query<'listTickets'>) =>
  queryOptions({
    queryKey: ['tickets', query],
    queryFn: ({ signal }) => berth.tickets.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })

export const ticketQuery = (id: string) =>
  queryOptions({ queryKey: ['tickets', 'one', id], queryFn: ({ signal }) => berth.tickets.get(id, { signal }) })

export const announcementsQuery = queryOptions({
  queryKey: ['announcements'],
  queryFn: ({ signal }) => berth.announcements.list({ signal }),
  refetchInterval: 60_000,
})
