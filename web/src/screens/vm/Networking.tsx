import { Button, NativeSelect } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { firewallsQuery, networksQuery } from '../../queries/network.ts'
import { Copyable } from '../../ui/CopyButton.tsx'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Missing } from '../../ui/Missing.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Stack } from '../../ui/Page.tsx'
import { firewallMessages, networkMessages, vmMessages } from '../../words/words.ts'
import { BuyPack } from '../bandwidth/BuyPack.tsx'
import { ActionButton } from './ActionButton.tsx'
import { Reach } from './Reach.tsx'
import { ReverseNames } from './ReverseNames.tsx'
import css from './vm.module.css'
import { Traffic } from './Traffic.tsx'

const w = vmMessages.networking
const invalidates = ['vm', 'actions', 'networks', 'firewalls']

type Open = 'attach' | 'firewall' | 'buy' | { detach: { id: string; name: string } } | null

export function Networking({ vm }: { vm: Vm }) {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const unbind = useWrite((firewallId: string) => berth.firewalls.unbind(firewallId, vm.id), {
    invalidates,
    successMessage: w.firewallDetached,
  })
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
      <ReverseNames vm={vm} />
      <Card
        title={w.private}
        actions={
          <ActionButton vm={vm} action="attach" variant="default" size="xs" onClick={() => setOpen('attach')}>
            {w.attach}
          </ActionButton>
        }
      >
        <AttachmentList
          none={w.noPrivate}
          items={vm.privateNetworks}
          link={({ id, name }) => (
            <TextLink to="/networks/$networkId" params={{ networkId: id }}>
              {name}
            </TextLink>
          )}
          action={(network) => (
            <ActionButton
              vm={vm}
              action="detach"
              variant="subtle"
              color="red"
              size="xs"
              aria-label={w.detachOf(network.name)}
              onClick={() => setOpen({ detach: network })}
            >
              {w.detach}
            </ActionButton>
          )}
        />
      </Card>
      <Card
        title={w.firewalls}
        about={vm.firewalls.length > 1 ? w.order : undefined}
        actions={
          <Button variant="default" size="xs" onClick={() => setOpen('firewall')}>
            {w.attachFirewall}
          </Button>
        }
      >
        <AttachmentList
          none={w.noFirewall}
          items={vm.firewalls}
          link={({ id, name }) => (
            <TextLink to="/firewalls/$firewallId" params={{ firewallId: id }}>
              {name}
            </TextLink>
          )}
          action={(firewall) => (
            <Button
              variant="subtle"
              color="red"
              size="xs"
              aria-label={w.detachFirewallOf(firewall.name)}
              loading={unbind.isPending}
              onClick={() => unbind.mutate(firewall.id)}
            >
              {w.detachFirewall}
            </Button>
          )}
        />
      </Card>
      <Reach vm={vm} />
      {open === 'attach' && <AttachNetwork vm={vm} onClose={close} />}
      {open === 'firewall' && <AttachFirewall vm={vm} onClose={close} />}
      {open === 'buy' && <BuyPack vmId={vm.id} vmName={vm.name} onClose={close} />}
      {typeof open === 'object' && open !== null && <DetachNetwork vm={vm} network={open.detach} onClose={close} />}
    </Stack>
  )
}

interface Attachment {
  id: string
  name: string
  /** The address of the VM in a private network. */
  ipAddress?: string
}

interface AttachmentListProps {
  none: string
  items: Attachment[]
  action: (item: Attachment) => ReactNode
  link: (item: Attachment) => ReactNode
}

const AttachmentList = ({ none, items, action, link }: AttachmentListProps) =>
  items.length === 0 ? (
    <p className="muted">{none}</p>
  ) : (
    <ul className={css['simple']}>
      {items.map((item) => (
        <li key={item.id}>
          {link(item)}
          {item.ipAddress && <Copyable text={item.ipAddress} what={w.addressIn(item.name)} />}
          {action(item)}
        </li>
      ))}
    </ul>
  )

function AttachNetwork({ vm, onClose }: { vm: Vm; onClose: () => void }) {
  const networks = useQuery(networksQuery())
  const free = (networks.data?.items ?? []).filter(
    ({ id, region }) => region.name === vm.region.name && !vm.privateNetworks.some((each) => each.id === id),
  )
  const attach = (id: string): Promise<unknown> => berth.vms.attachNetwork(vm.id, id)
  return (
    <SelectDialog
      title={w.attachTitle}
      label={w.network}
      submit={w.attach}
      items={free}
      none={<Missing text={w.noNetworks} link={<TextLink to="/networks">{networkMessages.create}</TextLink>} />}
      write={attach}
      successMessage={w.attaching}
      onClose={onClose}
    />
  )
}

function AttachFirewall({ vm, onClose }: { vm: Vm; onClose: () => void }) {
  const firewalls = useQuery(firewallsQuery())
  const free = (firewalls.data?.items ?? []).filter(({ id }) => !vm.firewalls.some((each) => each.id === id))
  const bind = (id: string): Promise<unknown> => berth.firewalls.bind(id, vm.id)
  return (
    <SelectDialog
      title={w.attachFirewallTitle}
      label={w.firewall}
      submit={w.attachFirewall}
      items={free}
      none={<Missing text={w.noFirewalls} link={<TextLink to="/firewalls">{firewallMessages.create}</TextLink>} />}
      write={bind}
      successMessage={w.firewallAttached}
      onClose={onClose}
    />
  )
}

interface SelectDialogProps {
  title: string
  label: string
  submit: string
  items: Attachment[]
  /** Shown when there is nothing to choose from. */
  none: ReactNode
  write: (id: string) => Promise<unknown>
  successMessage: string
  onClose: () => void
}

function SelectDialog({ title, label, submit, items, none, write, successMessage, onClose }: SelectDialogProps) {
  const [chosen, setChosen] = useState('')
  const id = chosen || (items[0]?.id ?? '')
  const attach = useWrite(() => write(id), { inForm: true, invalidates, successMessage, onDone: onClose })
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        onSubmit={() => attach.mutate()}
        busy={attach.isPending}
        error={attach.error}
        submit={submit}
        onCancel={onClose}
        disabled={id === ''}
      >
        {items.length === 0 ? (
          none
        ) : (
          <NativeSelect
            label={label}
            value={id}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={items.map((item) => ({ value: item.id, label: item.name }))}
          />
        )}
      </Form>
    </Dialog>
  )
}

function DetachNetwork({ vm, network, onClose }: { vm: Vm; network: Attachment; onClose: () => void }) {
  const write = useWrite(() => berth.vms.detachNetwork(vm.id, network.id), { inForm: true, invalidates, successMessage: w.detaching })
  return (
    <ConfirmDialog title={w.detachTitle} submit={w.detachButton} write={write} onClose={onClose}>
      {w.detachAbout(network.name)}
    </ConfirmDialog>
  )
}
