// Names of the resources that the log knows by their ids: the first 100 of each kind.
import { useQuery } from '@tanstack/react-query'
import { keysQuery } from '../../api/keys.ts'
import { sshKeysQuery, ticketsQuery } from '../../queries/account.ts'
import { useIsProject } from '../../api/session.ts'
import { alertsQuery } from '../../queries/alerts.ts'
import { imagesQuery } from '../../queries/images.ts'
import { addressesQuery, firewallsQuery, networksQuery } from '../../queries/network.ts'
import { projectsQuery } from '../../queries/projects.ts'
import { placementGroupsQuery, vmChoicesQuery, volumesQuery } from '../../queries/vms.ts'
import { webhooksQuery } from '../../queries/webhooks.ts'

export interface Resource {
  name: string
  to: string
}

const all = { limit: 100 }

/** Deleted resources have no name any more. */
export function useResources(): Map<string, Resource> {
  const vms = useQuery(vmChoicesQuery).data?.items ?? []
  const volumes = useQuery(volumesQuery(all)).data?.items ?? []
  const images = useQuery(imagesQuery(all)).data?.items ?? []
  const keys = useQuery(sshKeysQuery(all)).data?.items ?? []
  const groups = useQuery(placementGroupsQuery(all)).data?.items ?? []
  const networks = useQuery(networksQuery(all)).data?.items ?? []
  const addresses = useQuery(addressesQuery(all)).data?.items ?? []
  const firewalls = useQuery(firewallsQuery(all)).data?.items ?? []
  const alerts = useQuery(alertsQuery(all)).data?.items ?? []
  const webhooks = useQuery(webhooksQuery(all)).data?.items ?? []
  const tickets = useQuery(ticketsQuery(all)).data?.items ?? []
  const isProject = useIsProject()
  const projects = useQuery({ ...projectsQuery(all), enabled: !isProject }).data?.items ?? []
  const apiKeys = useQuery(keysQuery).data ?? []
  return new Map<string, Resource>([
    ...vms.map(({ id, name }) => [id, { name, to: `/vms/${id}` }] as const),
    ...volumes.map(({ id, name }) => [id, { name, to: '/volumes' }] as const),
    ...images.map(({ id, name }) => [id, { name, to: '/images' }] as const),
    ...keys.map(({ id, name }) => [id, { name, to: '/ssh-keys' }] as const),
    ...groups.map(({ id, name }) => [id, { name, to: '/placement-groups' }] as const),
    ...networks.map(({ id, name }) => [id, { name, to: `/networks/${id}` }] as const),
    ...addresses.map(({ id, name }) => [id, { name, to: '/addresses' }] as const),
    ...firewalls.map(({ id, name }) => [id, { name, to: `/firewalls/${id}` }] as const),
    ...projects.map(({ id, name }) => [id, { name, to: '/projects' }] as const),
    ...alerts.map(({ id, name }) => [id, { name, to: '/alerts' }] as const),
    ...webhooks.map(({ id, url }) => [id, { name: url, to: `/webhooks/${id}` }] as const),
    ...tickets.map(({ id, subject }) => [id, { name: subject, to: `/tickets/${id}` }] as const),
    ...apiKeys.map(({ id, name }) => [id, { name, to: '/settings' }] as const),
  ])
}
