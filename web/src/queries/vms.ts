import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Query } from '@berth/sdk'
import { berth } from '../api/berth.ts'
import { isNotFound } from '../api/errors.ts'

/** Polls for changes without an event, such as the steps of an action. */
const LOOK_MS = 1_500
const WATCH_MS = 1_000

export const vmsQuery = (query: Query<'listVms'>) =>
  queryOptions({
    queryKey: ['vms', query],
    queryFn: ({ signal }) => berth.vms.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
    refetchInterval: LOOK_MS,
  })

/** Those that are to come or under way, and concern VMs of the account; asked for again as time passes. */
export const maintenancesQuery = queryOptions({
  queryKey: ['maintenances'],
  queryFn: ({ signal }) => berth.maintenances.list({ limit: 20 }, { signal }).page(),
  select: ({ items }) =>
    items
      .filter(({ state, vmIds }) => (state === 'SCHEDULED' || state === 'IN_PROGRESS') && vmIds.length > 0)
      .toSorted((a, b) => (a.startsAt < b.startsAt ? -1 : 1)),
  refetchInterval: 60_000,
})

export const placementGroupsQuery = (query: Query<'listPlacementGroups'> = { limit: 100 }) =>
  queryOptions({
    queryKey: ['placement-groups', query],
    queryFn: ({ signal }) => berth.placementGroups.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })

/** While one is changed it is asked for again. */
export const volumesQuery = (query: Query<'listVolumes'>) =>
  queryOptions({
    queryKey: ['volumes', query],
    queryFn: ({ signal }) => berth.volumes.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(({ currentAction }) => currentAction) ? 1_000 : false),
  })

/** While one is made, restored or deleted they are asked for again. */
export const volumeSnapshotsQuery = (volumeId: string) =>
  queryOptions({
    queryKey: ['volume-snapshots', volumeId],
    queryFn: ({ signal }) => berth.volumeSnapshots.list(volumeId, { limit: 100 }, { signal }).page(),
    refetchInterval: ({ state }) => (state.data?.items.some(({ status }) => status.endsWith('ING')) ? WATCH_MS : false),
  })

/** For selects: the first 100 VMs. */
export const vmChoicesQuery = queryOptions({
  queryKey: ['vms', 'choices'],
  queryFn: ({ signal }) => berth.vms.list({ limit: 100 }, { signal }).page(),
})

export const vmQuery = (id: string) =>
  queryOptions({
    queryKey: ['vm', id],
    queryFn: ({ signal }) => berth.vms.get(id, { signal }),
    refetchInterval: ({ state }) => (isNotFound(state.error) ? false : state.data?.currentAction ? WATCH_MS : LOOK_MS),
  })

const isOver = (status: string | undefined): boolean => status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'

export const actionQuery = (vmId: string, actionId: string) =>
  queryOptions({
    queryKey: ['actions', vmId, actionId],
    queryFn: ({ signal }) => berth.actions.get(vmId, actionId, { signal }),
    refetchInterval: ({ state }) => (isOver(state.data?.status) || isNotFound(state.error) ? false : WATCH_MS),
  })

export const vmActionsQuery = (vmId: string, query: Query<'listVmActions'>) =>
  queryOptions({
    queryKey: ['actions', vmId, 'list', query],
    queryFn: ({ signal }) => berth.actions.ofVm(vmId, query, { signal }).page(),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(({ status }) => !isOver(status)) ? WATCH_MS : 5_000),
  })

export const runningActionsQuery = queryOptions({
  queryKey: ['actions', 'running'],
  queryFn: ({ signal }) => berth.actions.list({ status: 'RUNNING', limit: 10 }, { signal }).page(),
  refetchInterval: LOOK_MS,
})

export const snapshotsQuery = (vmId: string) =>
  queryOptions({
    queryKey: ['snapshots', vmId],
    queryFn: ({ signal }) => berth.snapshots.list(vmId, { limit: 100 }, { signal }).page(),
    refetchInterval: LOOK_MS,
  })

export const backupQuery = (vmId: string, id: string) =>
  queryOptions({ queryKey: ['backups', vmId, id], queryFn: ({ signal }) => berth.backups.get(vmId, id, { signal }) })

export const backupScreenshotQuery = (vmId: string, id: string) =>
  queryOptions({
    queryKey: ['backups', vmId, id, 'screenshot'],
    queryFn: ({ signal }) => berth.backups.screenshot(vmId, id, { signal }),
  })

export const backupsQuery = (vmId: string) =>
  queryOptions({
    queryKey: ['backups', vmId],
    queryFn: ({ signal }) => berth.backups.list(vmId, { limit: 100 }, { signal }).page(),
    refetchInterval: LOOK_MS,
  })
