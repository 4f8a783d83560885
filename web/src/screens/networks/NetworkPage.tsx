import type { Network } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { networkQuery } from '../../queries/network.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Page } from '../../ui/Page.tsx'
import { networkMessages as w } from '../../messages/networks.ts'
import { NetworkPeerings } from './NetworkPeerings.tsx'
import { NetworkRoutes } from './NetworkRoutes.tsx'

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
  const { name, cidr, region } = network
  return (
    <Page title={name} about={`${cidr}, ${region.name}`} above={<TextLink to="/networks">{w.back}</TextLink>}>
      <NetworkRoutes network={network} />
      <NetworkPeerings network={network} />
    </Page>
  )
}
