import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Query } from '@berth/sdk'
import { berth } from '../api/berth.ts'

export const accountQuery = queryOptions({ queryKey: ['account'], queryFn: ({ signal }) => berth.account.get({ signal }) })

export const membersQuery = (query: Query<'listMembers'>) =>
  queryOptions({
    queryKey: ['members', query],
    queryFn: ({ signal }) => berth.members.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })

export const invitationsQuery = queryOptions({
  queryKey: ['members', 'invitations'],
  queryFn: ({ signal }) => berth.invitations.list({ limit: 100 }, { signal }).page(),
})
