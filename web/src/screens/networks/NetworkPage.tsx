import { Button } from '@mantine/core'
import type { Network } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { networkQuery } from '../../queries/network.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Page } from '../../ui/Page.tsx'
import { RenameDialog } from '../../ui/Rename.tsx'
import { commonMessages, networkMessages as w } from '../../words/words.ts'
import { DeleteNetwork } from './DeleteNetwork.tsx'
import { NetworkPeerings } from './NetworkPeerings.tsx'
import { NetworkRoutes } from './NetworkRoutes.tsx'
import { NetworkVms } from './NetworkVms.tsx'

export default function NetworkPage() {
  const { networkId = '' } = useParams({ strict: false })
  const network = useQuery(networkQuery(networkId))
  return (
    <Loaded isPage of={network}>
      {(data) => <NetworkView network={data} />}
    </Loaded>
  )
}

function NetworkView({ network }: { network: Network }) {
  const { id, name, cidr, gateway, region } = network
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null)
  const close = (): void => setOpen(null)
  const navigate = useNavigate()
  const about = [cidr, gateway !== null && w.gatewayIs(gateway), region.name].filter(Boolean).join(', ')
  const actions = (
    <>
      <Button variant="default" onClick={() => setOpen('rename')}>
        {commonMessages.rename}
      </Button>
      <Button variant="default" color="red" onClick={() => setOpen('delete')}>
        {w.delete}
      </Button>
    </>
  )
  return (
    <Page title={name} about={about} above={<TextLink to="/networks">{w.back}</TextLink>} actions={actions}>
      <NetworkVms network={network} />
      <NetworkRoutes network={network} />
      <NetworkPeerings network={network} />
      {open === 'rename' && (
        <RenameDialog
          title={w.rename(name)}
          name={name}
          write={(next) => berth.networks.rename(id, next)}
          invalidates="networks"
          onClose={close}
        />
      )}
      {open === 'delete' && <DeleteNetwork network={network} onClose={close} onDeleted={() => navigate({ to: '/networks' })} />}
    </Page>
  )
}
