import { Button, TextInput } from '@mantine/core'
import type { Network, NetworkRoute } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { routesQuery } from '../../queries/network.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Card } from '../../ui/Page.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { commonMessages, networkMessages as w } from '../../words/words.ts'
import css from './networks.module.css'

const invalidates = ['networks']

export function NetworkRoutes({ network }: { network: Network }) {
  const [open, setOpen] = useState<'add' | NetworkRoute | null>(null)
  const close = (): void => setOpen(null)
  const routes = useQuery(routesQuery(network.id))
  const columns: Column<NetworkRoute>[] = [
    { head: w.destination, cell: ({ destination }) => <code>{destination}</code> },
    { head: w.nextHop, cell: ({ nextHop }) => <code>{nextHop}</code> },
    {
      head: commonMessages.actions,
      quiet: true,
      right: true,
      cell: (route) => (
        <Button variant="subtle" color="red" size="xs" aria-label={w.deleteRoute(route.destination)} onClick={() => setOpen(route)}>
          {w.deleteRouteShort}
        </Button>
      ),
    },
  ]
  const add = network.gateway !== null && (
    <Button variant="default" size="xs" onClick={() => setOpen('add')}>
      {w.addRoute}
    </Button>
  )
  return (
    <Card flush title={w.routes} about={w.routesAbout} actions={add}>
      <Loaded of={routes} lines={2}>
        {(all) =>
          all.length === 0 ? (
            <p className={css['none']}>{network.gateway === null ? w.noGateway : w.noRoutes}</p>
          ) : (
            <Table caption={w.routes} columns={columns} rows={all} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      {open === 'add' && <AddRoute network={network} onClose={close} />}
      {open !== null && open !== 'add' && <DeleteRoute networkId={network.id} route={open} onClose={close} />}
    </Card>
  )
}

function AddRoute({ network, onClose }: { network: Network; onClose: () => void }) {
  const [destination, setDestination] = useState('')
  const [nextHop, setNextHop] = useState('')
  const add = useWrite(() => berth.networks.addRoute(network.id, { destination, nextHop }), {
    inForm: true,
    invalidates,
    successMessage: (route) => w.routeAdded(route.destination),
    onDone: onClose,
  })
  return (
    <Dialog title={w.addRoute} onClose={onClose}>
      <Form onSubmit={() => add.mutate()} busy={add.isPending} error={add.error} submit={w.addRoute} onCancel={onClose}>
        <TextInput
          label={w.destination}
          description={w.destinationHint}
          value={destination}
          onChange={(event) => setDestination(event.currentTarget.value.trim())}
          error={fieldError(add.error, 'destination')}
          data-autofocus
        />
        <TextInput
          label={w.nextHop}
          description={w.nextHopHint(network.cidr)}
          value={nextHop}
          onChange={(event) => setNextHop(event.currentTarget.value.trim())}
          error={fieldError(add.error, 'nextHop')}
        />
      </Form>
    </Dialog>
  )
}

function DeleteRoute({ networkId, route, onClose }: { networkId: string; route: NetworkRoute; onClose: () => void }) {
  const write = useWrite(() => berth.networks.deleteRoute(networkId, route.id), {
    inForm: true,
    invalidates,
    successMessage: w.routeDeleted(route.destination),
  })
  return (
    <ConfirmDialog title={w.deleteRouteTitle} submit={w.deleteRouteShort} write={write} onClose={onClose}>
      {w.deleteRouteAbout(route.destination)}
    </ConfirmDialog>
  )
}
