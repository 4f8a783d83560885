import { Alert, Button, Checkbox, NativeSelect } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { vmMessages } from '../../words/words.ts'
import { isoImagesQuery } from '../../queries/images.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { Row, Stack } from '../../ui/Page.tsx'

const w = vmMessages.isoImage
const invalidates = ['vm', 'vms', 'actions']

interface Props {
  vm: Vm
  onClose: () => void
}

export const ConfirmIso = (props: Props) => (props.vm.iso ? <Detach {...props} /> : <Attach {...props} />)

function Attach({ vm, onClose }: Props) {
  const images = useQuery(isoImagesQuery).data ?? []
  const [chosen, setChosen] = useState('')
  const [restart, setRestart] = useState(false)
  const imageId = chosen || (images[0]?.id ?? '')
  const isRunning = vm.status === 'RUNNING'
  const write = useWrite(() => berth.vms.attachIso(vm.id, { imageId, ...(isRunning && restart && { restart }) }), {
    inForm: true,
    invalidates,
    successMessage: vmMessages.started.attachIso,
  })
  return (
    <ConfirmDialog
      title={w.title(vm.name)}
      submit={vmMessages.attachIso}
      write={write}
      onClose={onClose}
      danger={false}
      disabled={imageId === ''}
    >
      <Stack gap={14}>
        <p>{w.about}</p>
        {images.length === 0 ? (
          <p>{w.none}</p>
        ) : (
          <NativeSelect
            label={w.image}
            value={imageId}
            data={images.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={(event) => setChosen(event.currentTarget.value)}
            error={fieldError(write.error, 'imageId')}
          />
        )}
        {isRunning && <Checkbox label={w.restart} checked={restart} onChange={(event) => setRestart(event.currentTarget.checked)} />}
      </Stack>
    </ConfirmDialog>
  )
}

function Detach({ vm, onClose }: Props) {
  const write = useWrite(() => berth.vms.detachIso(vm.id), { inForm: true, invalidates, successMessage: vmMessages.started.detachIso })
  return (
    <ConfirmDialog title={w.detachTitle(vm.name)} submit={vmMessages.detachIso} write={write} onClose={onClose} danger={false}>
      {w.detachAbout}
    </ConfirmDialog>
  )
}

export function IsoAttached({ vm, iso }: { vm: Vm; iso: NonNullable<Vm['iso']> }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Alert color="blue">
      <Row gap={16}>
        <span>{iso.active ? w.active(iso.name) : w.waiting(iso.name)}</span>
        {vm.allowedActions.includes('detachIso') && (
          <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
            {vmMessages.detachIso}
          </Button>
        )}
      </Row>
      {isOpen && <ConfirmIso vm={vm} onClose={() => setIsOpen(false)} />}
    </Alert>
  )
}
