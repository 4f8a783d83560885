import { usePaging } from './paging.ts'

/** What the API is asked of a list that has names and labels, of what is in the URL. */
export function useListQuery<Sort extends string>() {
  const { search } = usePaging()
  const matching = { name: search.q, labelSelector: search.labels, sort: search.sort as Sort | undefined }
  return { search, matching, page: { page: search.page, limit: search.limit } }
}
