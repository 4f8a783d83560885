import { Button, SegmentedControl } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { lazy, Suspense, useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { Card, Row, Stack } from '../../ui/Page.tsx'
import { Loading } from '../../ui/AsyncState.tsx'
import { commonMessages, vmMessages } from '../../words/words.ts'
import { ActionButton } from './ActionButton.tsx'

const Serial = lazy(() => import('./Serial.tsx'))
const Vnc = lazy(() => import('./Vnc.tsx'))

const w = vmMessages.console

type Kind = 'serial' | 'vnc'

/** The same server by the name of this page: without BERTH_PUBLIC_URL a link has the server's address, which the page may not connect to. */
const onThisPage = (link: string): string => `${location.origin.replace(/^http/, 'ws')}${new URL(link).pathname}`

/** Console links are single-use, so each opening requests a new one. */
export default function Console({ vm }: { vm: Vm }) {
  const [kind, setKind] = useState<Kind>('serial')
  const [url, setUrl] = useState<string | null>(null)
  const [state, setState] = useState('')
  const open = useWrite(() => berth.vms.openConsole(vm.id, kind), {
    onDone: (link) => {
      setState(w.connecting)
      setUrl(onThisPage(link.url))
    },
  })
  const choose = (next: string): void => {
    setKind(next as Kind)
    setUrl(null)
    setState('')
  }
  const Screen = kind === 'serial' ? Serial : Vnc
  const onClosed = (reason: string): void => {
    setUrl(null)
    setState(reason ? w.closedWith(reason) : w.closed)
  }
  return (
    <Card
      title={vmMessages.tabs.console}
      about={w.about}
      actions={
        <SegmentedControl
          aria-label={w.kind}
          value={kind}
          onChange={choose}
          data={[
            { value: 'serial', label: w.serial },
            { value: 'vnc', label: w.vnc },
          ]}
        />
      }
    >
      <Stack gap={12}>
        {url === null ? (
          <Row>
            <ActionButton vm={vm} action="console" loading={open.isPending} onClick={() => open.mutate()}>
              {state ? w.reopen : w.open}
            </ActionButton>
          </Row>
        ) : (
          <Suspense fallback={<Loading />}>
            <Screen key={url} url={url} label={w.label(vm.name)} onConnected={() => setState(w.connected)} onClosed={onClosed} />
          </Suspense>
        )}
        <Row gap={16}>
          <output className="muted">{state}</output>
          {url !== null && (
            <>
              <span className="muted">{w.leave}</span>
              <Button variant="default" size="xs" onClick={() => onClosed('')}>
                {commonMessages.close}
              </Button>
            </>
          )}
        </Row>
      </Stack>
    </Card>
  )
}
