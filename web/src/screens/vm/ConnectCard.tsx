import type { Vm } from '@berth/sdk'
import { useState } from 'react'
import { Code } from '../../ui/CopyButton.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { ButtonLink } from '../../ui/links.tsx'
import { Card, Row, Stack } from '../../ui/Page.tsx'
import { vmMessages } from '../../words/words.ts'
import { ActionButton } from './ActionButton.tsx'
import { ResetVmPassword } from './DangerZone.tsx'
import { useLoginUser } from './login.ts'

const w = vmMessages.connect

/** How to get in: by SSH, in the browser, and with what. */
export function ConnectCard({ vm }: { vm: Vm }) {
  const [setsPassword, setSetsPassword] = useState(false)
  const user = useLoginUser(vm)
  const commands = user === undefined ? [] : sshCommands(user, vm)
  const keys = vm.rescue ? [] : vm.sshKeys.map(({ name }) => name)
  return (
    <Card title={w.title}>
      <Stack gap={12}>
        {commands.map(({ what, text }) => (
          <div key={what}>
            <div className="muted">{what}</div>
            <Code text={text} what={what} />
          </div>
        ))}
        {commands.length === 0 && <p className="muted">{w.noAddress}</p>}
        <p className="muted">{keys.length > 0 ? w.withKeys(keys.join(', ')) : w.withoutKeys}</p>
        <Row>
          <ButtonLink
            to="/vms/$vmId"
            params={{ vmId: vm.id }}
            search={{ tab: 'console' }}
            variant="default"
            size="xs"
            leftSection={<Icon name="terminal" size={15} />}
          >
            {w.console}
          </ButtonLink>
          <ActionButton vm={vm} action="password" variant="default" size="xs" onClick={() => setSetsPassword(true)}>
            {w.setPassword(user ?? '')}
          </ActionButton>
        </Row>
      </Stack>
      {setsPassword && <ResetVmPassword vm={vm} onClose={() => setSetsPassword(false)} />}
    </Card>
  )
}

const sshCommands = (user: string, { ipAddress, ipv6Address }: Pick<Vm, 'ipAddress' | 'ipv6Address'>): { what: string; text: string }[] => [
  ...(ipAddress ? [{ what: w.ssh, text: `ssh ${user}@${ipAddress}` }] : []),
  ...(ipv6Address ? [{ what: w.ssh6, text: `ssh ${user}@${ipv6Address}` }] : []),
]
