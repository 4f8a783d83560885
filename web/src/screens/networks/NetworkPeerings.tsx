import { Button, NativeSelect } from '@mantine/core'
import type { Network, NetworkPeering } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { networksQuery, peeringsQuery } from '../../queries/network.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Missing } from '../../ui/Missing.tsx'
import { Card } from '../../ui/Page.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { commonMessages, networkMessages as w } from '../../words/words.ts'
import css from './networks.module.css'

const invalidates = ['networks']

export function NetworkPeerings({ network }: { network: Network }) {
  const [open, setOpen] = useState<'add' | NetworkPeering | null>(null)
  const close = (): void => setOpen(null)
  const peerings = useQuery(peeringsQuery(network.id))
  const columns: Column<NetworkPeering>[] = [
    {
      head: w.peer,
      truncate: ({ name }) => name,
      cell: ({ networkId, name }) => (
        <TextLink to="/networks/$networkId" params={{ networkId }}>
          {name}
        </TextLink>
      ),
    },
    { head: w.cidr, cell: ({ cidr }) => <code>{cidr}</code> },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: (peering) => (
        <Button variant="subtle" color="red" size="xs" aria-label={w.deletePeering(peering.name)} onClick={() => setOpen(peering)}>
          {w.deletePeeringShort}
        </Button>
      ),
    },
  ]
  const add = network.gateway !== null && (
    <Button variant="default" size="xs" onClick={() => setOpen('add')}>
      {w.addPeering}
    </Button>
  )
  return (
    <Card flush title={w.peerings} about={w.peeringsAbout} actions={add}>
      <Loaded of={peerings} lines={2}>
        {(all) =>
          all.length === 0 ? (
            <p className={css['none']}>{network.gateway === null ? w.noGateway : w.noPeerings}</p>
          ) : (
            <Table caption={w.peerings} columns={columns} rows={all} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      {open === 'add' && <AddPeering network={network} peers={peerings.data ?? []} onClose={close} />}
      {open !== null && open !== 'add' && <DeletePeering networkId={network.id} peering={open} onClose={close} />}
    </Card>
  )
}

function AddPeering({ network, peers, onClose }: { network: Network; peers: NetworkPeering[]; onClose: () => void }) {
  const [chosen, setChosen] = useState('')
  const all = useQuery(networksQuery()).data?.items ?? []
  const others = all.filter(({ id, gateway, region }) => id !== network.id && gateway !== null && region.name === network.region.name)
  const choices = others.filter(({ id }) => !peers.some(({ networkId }) => networkId === id))
  const networkId = chosen || (choices[0]?.id ?? '')
  const add = useWrite(() => berth.networks.addPeering(network.id, networkId), {
    inForm: true,
    invalidates,
    successMessage: (peering) => w.peeringAdded(peering.name),
    onDone: onClose,
  })
  return (
    <Dialog title={w.addPeering} onClose={onClose}>
      <Form
        onSubmit={() => add.mutate()}
        busy={add.isPending}
        error={add.error}
        submit={w.addPeering}
        onCancel={onClose}
        disabled={networkId === ''}
      >
        {choices.length === 0 ? (
          <Missing text={others.length === 0 ? w.noPeers : w.allPeers} link={<TextLink to="/networks">{w.create}</TextLink>} />
        ) : (
          <NativeSelect
            label={w.peer}
            value={networkId}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={choices.map(({ id, name, cidr }) => ({ value: id, label: `${name} (${cidr})` }))}
          />
        )}
      </Form>
    </Dialog>
  )
}

function DeletePeering({ networkId, peering, onClose }: { networkId: string; peering: NetworkPeering; onClose: () => void }) {
  const write = useWrite(() => berth.networks.deletePeering(networkId, peering.id), {
    inForm: true,
    invalidates,
    successMessage: w.peeringDeleted(peering.name),
  })
  return (
    <ConfirmDialog title={w.deletePeeringTitle} submit={w.deletePeeringShort} write={write} onClose={onClose}>
      {w.deletePeeringAbout(peering.name)}
    </ConfirmDialog>
  )
}
