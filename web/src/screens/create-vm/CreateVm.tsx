import { useQueries, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { sessionQuery, type Session } from '../../api/session.ts'
import { sshKeysQuery } from '../../queries/account.ts'
import { availabilityQuery, plansQuery, regionsQuery, templatesQuery } from '../../queries/catalog.ts'
import { bootableImagesQuery } from '../../queries/images.ts'
import { firewallsQuery, networksQuery } from '../../queries/network.ts'
import { backupQuery, placementGroupsQuery, vmChoicesQuery, vmQuery, volumesQuery } from '../../queries/vms.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Page } from '../../ui/Page.tsx'
import type { ListSearch } from '../../ui/paging.ts'
import { createVmMessages as w } from '../../words/words.ts'
import type { Choices } from './choices.ts'
import { CreateVmForm } from './CreateVmForm.tsx'

export default function CreateVm() {
  const session = useQuery(sessionQuery).data
  const { vm: vmId, backup: backupId, image: imageId }: ListSearch = useSearch({ strict: false })
  const choices = useChoices()
  return (
    <Page title={w.title} above={<TextLink to="/vms">{w.back}</TextLink>}>
      <Loaded of={choices}>
        {(data) =>
          session &&
          (vmId && backupId ? (
            <FromBackup key={backupId} choices={data} session={session} vmId={vmId} backupId={backupId} />
          ) : (
            <CreateVmForm key={imageId} choices={data} session={session} source={null} imageId={imageId} />
          ))
        }
      </Loaded>
    </Page>
  )
}

const useChoices = () =>
  useQueries({
    queries: [
      regionsQuery,
      templatesQuery,
      bootableImagesQuery,
      plansQuery,
      sshKeysQuery(),
      networksQuery(),
      firewallsQuery(),
      placementGroupsQuery(),
      availabilityQuery,
      vmChoicesQuery,
      volumesQuery({ status: 'AVAILABLE', limit: 100 }),
    ],
    combine: ([regions, templates, images, plans, keys, networks, firewalls, groups, availability, vms, volumes]) => {
      const all = [regions, templates, images, plans, keys, networks, firewalls, groups, availability, vms, volumes]
      const isLoaded =
        regions.data &&
        templates.data &&
        images.data &&
        plans.data &&
        keys.data &&
        networks.data &&
        firewalls.data &&
        groups.data &&
        availability.data &&
        vms.data &&
        volumes.data
      const data: Choices | undefined = isLoaded && {
        regions: regions.data,
        templates: templates.data,
        images: images.data,
        plans: plans.data,
        keys: keys.data.items,
        networks: networks.data.items,
        firewalls: firewalls.data.items,
        groups: groups.data.items,
        volumes: volumes.data.items.filter(({ currentAction }) => currentAction === null),
        availability: availability.data,
        hostnames: vms.data.items.map(({ hostname }) => hostname),
      }
      const error = all.find((each) => each.error)?.error ?? null
      const errorUpdatedAt = Math.max(...all.map((each) => each.errorUpdatedAt))
      return { data, error, errorUpdatedAt, refetch: () => all.forEach((each) => void each.refetch()) }
    },
  })

interface Props {
  choices: Choices
  session: Session
}

function FromBackup({ vmId, backupId, ...props }: Props & { vmId: string; backupId: string }) {
  const [vm, backup] = [useQuery(vmQuery(vmId)), useQuery(backupQuery(vmId, backupId))]
  return (
    <Loaded of={vm}>
      {(foundVm) => <Loaded of={backup}>{(found) => <CreateVmForm {...props} source={{ vm: foundVm, backup: found }} />}</Loaded>}
    </Loaded>
  )
}
