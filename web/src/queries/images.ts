import type { Image, Query } from '@berth/sdk'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { berth } from '../api/berth.ts'

const isChanging = ({ status, lockedUntil }: Image): boolean => status === 'CREATING' || (status === 'DELETING' && lockedUntil === null)

/** While one is made or deleted it is asked for again. */
export const imagesQuery = (query: Query<'listImages'>) =>
  queryOptions({
    queryKey: ['images', query],
    queryFn: ({ signal }) => berth.images.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(isChanging) ? 1_000 : false),
  })

/** Whether VMs can be made from it now. */
export const isBootable = ({ kind, status, billing }: Image): boolean =>
  kind === 'DISK' && status === 'AVAILABLE' && billing?.status !== 'SUSPENDED'

/** For choices: those of the 100 newest that VMs can be made from. */
export const bootableImagesQuery = queryOptions({
  queryKey: ['images', 'bootable'],
  queryFn: async ({ signal }) => (await berth.images.list({ kind: 'DISK', limit: 100 }, { signal }).page()).items.filter(isBootable),
  gcTime: 0, // a form that begins with an image needs the newest list
})

/** For the CD drives of VMs: those of the 100 newest that can be attached now. */
export const isoImagesQuery = queryOptions({
  queryKey: ['images', 'iso'],
  queryFn: async ({ signal }) =>
    (await berth.images.list({ kind: 'ISO', limit: 100 }, { signal }).page()).items.filter(
      ({ status, billing }) => status === 'AVAILABLE' && billing?.status !== 'SUSPENDED',
    ),
  gcTime: 0,
})

/** What `osTemplate` of a VM from the image says. */
export const templateSlugOf = ({ id }: Image): string => `image-${id}`
