import { Checkbox, NativeSelect, PasswordInput } from '@mantine/core'
import { ActionFailedError, type ActionReference, type Image, type Quote, type Vm } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { errorMessage, fieldError } from '../../api/errors.ts'
import { sshKeysQuery } from '../../queries/account.ts'
import { templatesQuery } from '../../queries/catalog.ts'
import { bootableImagesQuery, templateSlugOf } from '../../queries/images.ts'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { formatDisk, formatMoney, formatOs } from '../../ui/format.ts'
import { Form, ErrorAlert } from '../../ui/Form.tsx'
import { Stack } from '../../ui/Page.tsx'
import { toast } from '../../ui/toasts.ts'
import { vmMessages } from '../../words/words.ts'
import { failedToProvision } from './ActionButton.tsx'

const w = vmMessages.settings
const invalidates = ['vm', 'vms', 'actions', 'wallet']

interface Props {
  vm: Vm
  onClose: () => void
}

export function DeleteVm({ vm, onClose }: Props) {
  const navigate = useNavigate()
  const quote = useQuery({ queryKey: ['quote', vm.id, 'delete'], queryFn: ({ signal }) => berth.vms.quoteDelete(vm.id, { signal }) })
  const write = useWrite(() => berth.vms.delete(vm.id), {
    inForm: true,
    invalidates: ['vms', 'wallet', 'actions'],
    successMessage: w.deleting(vm.name),
    onDone: () => navigate({ to: '/vms' }),
  })
  return (
    <ConfirmDialog title={w.deleteTitle(vm.name)} submit={w.deleteButton} write={write} onClose={onClose} name={vm.hostname}>
      {w.deleteAbout} {quote.data && w.refund(formatMoney(quote.data.charge.replace('-', ''), quote.data.currency))}
    </ConfirmDialog>
  )
}

export function ResetVmPassword({ vm, onClose }: Props) {
  const [password, setPassword] = useState('')
  const write = useWrite(() => berth.vms.setPassword(vm.id, password), {
    inForm: true,
    invalidates,
    successMessage: w.resettingPassword,
    onDone: (started) => {
      onClose()
      void reportPassword(started)
    },
  })
  return (
    <Dialog title={w.password} onClose={onClose}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.password} onCancel={onClose}>
        <PasswordInput
          label={w.newPassword}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fieldError(write.error, 'password')}
          autoComplete="new-password"
          data-autofocus
        />
      </Form>
    </Dialog>
  )
}

/** The action is too short to be seen in progress, so its end is reported. */
async function reportPassword(started: ActionReference): Promise<void> {
  try {
    await berth.waitForAction(started)
    toast.success(w.passwordSet)
  } catch (error) {
    toast.error(error instanceof ActionFailedError ? error.message : errorMessage(error))
  }
}

/** Shows a quote before anything is charged. */
export function RebuildVm({ vm, onClose }: Props) {
  const templates = useQuery(templatesQuery)
  const images = useQuery(bootableImagesQuery).data ?? []
  const keys = useQuery(sshKeysQuery())
  const choices = (templates.data ?? []).filter(({ available }) => available)
  const [chosen, setChosen] = useState('')
  const [sshKeyIds, setSshKeyIds] = useState(vm.sshKeys.map(({ id }) => id))
  const { slug: currentSlug } = vm.osTemplate
  const current =
    images.find((image) => templateSlugOf(image) === currentSlug) ?? choices.find(({ slug }) => slug === currentSlug) ?? choices[0]
  const osTemplateId = chosen || (current?.id ?? '')
  const [keepsUserData, setKeepsUserData] = useState(true)
  const body = { osTemplateId, sshKeyIds, ...(!keepsUserData && { userData: null }) }
  const isCharged = failedToProvision(vm)
  const quote = useQuery({
    queryKey: ['quote', vm.id, 'rebuild', body],
    queryFn: ({ signal }) => berth.vms.quoteRebuild(vm.id, body, { signal }),
    enabled: isCharged && osTemplateId !== '',
  })
  const write = useWrite(() => berth.vms.rebuild(vm.id, body), { inForm: true, invalidates, successMessage: w.rebuilding })
  return (
    <ConfirmDialog
      title={w.rebuildTitle(vm.name)}
      submit={w.rebuildButton}
      write={write}
      onClose={onClose}
      name={vm.hostname}
      disabled={osTemplateId === '' || (isCharged && !quote.data)}
    >
      <Stack gap={14}>
        <p>{isCharged ? w.rebuildFailed : w.rebuildAbout}</p>
        {quote.data && <Price quote={quote.data} />}
        <ErrorAlert error={quote.error} />
        <NativeSelect
          label={w.os}
          value={osTemplateId}
          onChange={(event) => setChosen(event.currentTarget.value)}
          data={[
            { group: w.templates, items: choices.map((each) => ({ value: each.id, label: formatOs(each) })) },
            ...(images.length > 0 ? [{ group: w.images, items: images.map((image) => imageChoice(image, vm)) }] : []),
          ]}
        />
        <Checkbox.Group label={w.keys} value={sshKeyIds} onChange={setSshKeyIds}>
          <Stack gap={6}>
            <div />
            {(keys.data?.items ?? []).map(({ id, name }) => (
              <Checkbox key={id} value={id} label={name} />
            ))}
          </Stack>
        </Checkbox.Group>
        {vm.initialization && (
          <Checkbox label={w.userDataAgain} checked={keepsUserData} onChange={(event) => setKeepsUserData(event.currentTarget.checked)} />
        )}
      </Stack>
    </ConfirmDialog>
  )
}

/** One that does not fit on the disk is not offered. */
function imageChoice({ id, name, disk }: Image, vm: Vm) {
  const needed = disk ?? 0
  const isTooLarge = needed > vm.disk
  return { value: id, label: isTooLarge ? w.tooLarge(name, formatDisk(needed)) : name, disabled: isTooLarge }
}

const Price = ({ quote: { charge, balanceAfter, currency } }: { quote: Quote }) => (
  <p>{w.rebuildPrice(formatMoney(charge, currency), formatMoney(balanceAfter, currency))}</p>
)
