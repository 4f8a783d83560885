import { Button } from '@mantine/core'
import type { Firewall } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { firewallQuery } from '../../queries/network.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Columns, Page } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import { Bindings } from './Bindings.tsx'
import { EditFirewall } from './EditFirewall.tsx'
import { Rules } from './Rules.tsx'
import { Tester } from './Tester.tsx'
import { Undo } from './Undo.tsx'
import { useDraft } from './useDraft.ts'

export default function FirewallPage() {
  const { firewallId = '' } = useParams({ strict: false })
  const firewall = useQuery(firewallQuery(firewallId))
  return (
    <Loaded isPage of={firewall}>
      {(data) => <FirewallView key={data.id} firewall={data} />}
    </Loaded>
  )
}

function FirewallView({ firewall }: { firewall: Firewall }) {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null)
  const close = (): void => setOpen(null)
  const { query, draft } = useDraft(firewall.id)
  const actions = (
    <>
      <Button variant="default" onClick={() => setOpen('edit')}>
        {w.edit}
      </Button>
      <Button variant="default" color="red" onClick={() => setOpen('delete')}>
        {w.delete}
      </Button>
    </>
  )
  return (
    <Page title={firewall.name} about={firewall.description} above={<TextLink to="/firewalls">{w.back}</TextLink>} actions={actions}>
      <Undo firewall={firewall} shownVersion={query.data?.version ?? firewall.rulesVersion} />
      <Rules firewall={firewall} query={query} draft={draft} />
      <Columns>
        <Bindings firewallId={firewall.id} />
        <Tester firewall={firewall} draft={draft} />
      </Columns>
      {open === 'edit' && <EditFirewall firewall={firewall} onClose={close} />}
      {open === 'delete' && <DeleteFirewall firewall={firewall} onClose={close} />}
    </Page>
  )
}

function DeleteFirewall({ firewall, onClose }: { firewall: Firewall; onClose: () => void }) {
  const navigate = useNavigate()
  const write = useWrite(() => berth.firewalls.delete(firewall.id), {
    inForm: true,
    invalidates: ['limits'],
    successMessage: w.deleted(firewall.name),
    onDone: () => navigate({ to: '/firewalls' }),
  })
  return (
    <ConfirmDialog
      title={w.deleteTitle(firewall.name)}
      submit={w.delete}
      write={write}
      onClose={onClose}
      disabled={firewall.bindingCount > 0}
    >
      {firewall.bindingCount > 0 ? w.deleteAttached(firewall.bindingCount) : w.deleteAbout}
    </ConfirmDialog>
  )
}
