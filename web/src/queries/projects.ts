import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Query } from '@berth/sdk'
import { berth } from '../api/berth.ts'

export const projectsQuery = (query: Query<'listProjects'>) =>
  queryOptions({
    queryKey: ['projects', query],
    queryFn: ({ signal }) => berth.projects.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })
