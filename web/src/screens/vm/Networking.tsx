import { Button, NativeSelect } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { firewallsQuery, networksQuery } from '../../queries/network.ts'
import { Confirm, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Stack } from '../../ui/Page.tsx'
import { vmWords } from '../../messages/vm.ts'
import { BuyPack } from '../bandwidth/BuyPack.tsx'
import { Verb } from './ActionButton.tsx'
import css from './vm.module.css'
import { Traffic } from './Traffic.tsx'

const w = vmWords.networking
const changes = ['vm', 'actions', 'networks', 'firewalls']

type Open = 'attach' | 'bind' | 'buy' | { detach: { id: string; name: string } } | null

export function Networking({ vm }: { vm: Vm }) {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const unbind = useWrite((firewallId: string) => berth.firewalls.unbind(firewallId, vm.id), { changes, says: w.unbound })
  return (
    <Stack>
      <Card
        title={w.public}
        actions={
          <Button variant="default" size="xs" onClick={() => setOpen('buy')}>
            {w.buyTraffic}
          </Button>
        }
      >
        <Traffic vm={vm} />
      </Card>
      <Card
        title={w.private}
        actions={
          <Verb vm={vm} verb="attach" variant="default" size="xs" onClick={() => setOpen('attach')}>
            {w.attach}
          </Verb>
        }
      >
        <Things
          none={w.noPrivate}
          things={vm.privateNetworks}
          action={(network) => (
            <Verb
              vm={vm}
              verb="detach"
              variant="subtle"
              color="red"
              size="xs"
              aria-label={w.detachOf(network.name)}
              onClick={() => setOpen({ detach: network })}
            >
              {w.detach}
            </Verb>
          )}
        />
      </Card>
      <Card
        title={w.firewalls}
        about={vm.firewalls.length > 1 ? w.order : undefined}
        actions={
          <Button variant="default" size="xs" onClick={() => setOpen('bind')}>
            {w.bind}
          </Button>
        }
      >
        <Things
          none={w.noFirewall}
          things={vm.firewalls}
          link
          action={(firewall) => (
            <Button
              variant="subtle"
              color="red"
              size="xs"
              aria-label={w.unbindOf(firewall.name)}
              loading={unbind.isPending}
              onClick={() => unbind.mutate(firewall.id)}
            >
              {w.unbind}
            </Button>
          )}
        />
      </Card>
      {open === 'attach' && <Attach vm={vm} onClose={close} />}
      {open === 'bind' && <Bind vm={vm} onClose={close} />}
      {open === 'buy' && <BuyPack vmId={vm.id} vmName={vm.name} onClose={close} />}
      {typeof open === 'object' && open !== null && <Detach vm={vm} network={open.detach} onClose={close} />}
    </Stack>
  )
}

interface Thing {
  id: string
  name: string
}

interface ThingsProps {
  none: string
  things: Thing[]
  action: (thing: Thing) => React.ReactNode
  link?: boolean
}

const Things = ({ none, things, action, link = false }: ThingsProps) =>
  things.length === 0 ? (
    <p className="muted">{none}</p>
  ) : (
    <ul className={css['simple']}>
      {things.map((thing) => (
        <li key={thing.id}>
          {link ? (
            <TextLink to="/firewalls/$firewallId" params={{ firewallId: thing.id }}>
              {thing.name}
            </TextLink>
          ) : (
            <span>{thing.name}</span>
          )}
          {action(thing)}
        </li>
      ))}
    </ul>
  )

function Attach({ vm, onClose }: { vm: Vm; onClose: () => void }) {
  const networks = useQuery(networksQuery())
  const free = (networks.data?.items ?? []).filter(({ id }) => !vm.privateNetworks.some((each) => each.id === id))
  const attach = (id: string): Promise<unknown> => berth.vms.attachNetwork(vm.id, id)
  return (
    <Pick title={w.attachTitle} label={w.network} submit={w.attach} things={free} write={attach} says={w.attaching} onClose={onClose} />
  )
}

function Bind({ vm, onClose }: { vm: Vm; onClose: () => void }) {
  const firewalls = useQuery(firewallsQuery())
  const free = (firewalls.data?.items ?? []).filter(({ id }) => !vm.firewalls.some((each) => each.id === id))
  const bind = (id: string): Promise<unknown> => berth.firewalls.bind(id, vm.id)
  return <Pick title={w.bindTitle} label={w.firewall} submit={w.bind} things={free} write={bind} says={w.bound} onClose={onClose} />
}

interface PickProps {
  title: string
  label: string
  submit: string
  things: Thing[]
  write: (id: string) => Promise<unknown>
  says: string
  onClose: () => void
}

function Pick({ title, label, submit, things, write, says, onClose }: PickProps) {
  const [chosen, setChosen] = useState('')
  const id = chosen || (things[0]?.id ?? '')
  const pick = useWrite(() => write(id), { inForm: true, changes, says, after: onClose })
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => pick.mutate()} busy={pick.isPending} error={pick.error} submit={submit} onCancel={onClose} disabled={id === ''}>
        {things.length === 0 ? (
          <p className="muted">{w.none}</p>
        ) : (
          <NativeSelect
            label={label}
            value={id}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={things.map((thing) => ({ value: thing.id, label: thing.name }))}
          />
        )}
      </Form>
    </Dialog>
  )
}

function Detach({ vm, network, onClose }: { vm: Vm; network: Thing; onClose: () => void }) {
  const write = useWrite(() => berth.vms.detachNetwork(vm.id, network.id), { inForm: true, changes, says: w.detaching })
  return (
    <Confirm title={w.detachTitle} submit={w.detach} write={write} onClose={onClose}>
      {w.detachAbout(network.name)}
    </Confirm>
  )
}
