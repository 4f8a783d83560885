// Imports the image of an OS template: of one that is in the catalog, or of a new one.
import { NativeSelect, NumberInput, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operatorRequest, type Template } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { formatOs } from '../../ui/format.ts'
import { templateMessages as w } from '../../words/words.ts'

const FIRST = {
  slug: '',
  name: '',
  version: '',
  distribution: '',
  arch: 'x86_64',
  url: '',
  checksum: '',
  checksumsUrl: '',
  defaultUser: 'root',
  minDisk: 1,
  minRam: 128,
  firmware: '' as keyof typeof w.firmwares,
  tpm: false,
  hasAgent: false,
}
type Order = typeof FIRST

/** Empty fields are left to the server. */
const given = (fields: Partial<Order>) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))

function bodyOf(order: Order, known: Template | undefined) {
  const { slug, arch, url, checksum, checksumsUrl, ...facts } = order
  const source = { url, checksum, checksumsUrl }
  return given(known ? { slug: known.slug, ...source } : { slug, arch, ...source, ...facts })
}

export function ImportTemplate({ templates, template, onClose }: { templates: Template[]; template?: Template; onClose: () => void }) {
  const [knownId, setKnownId] = useState(template?.id ?? '')
  const [order, setOrder] = useState(FIRST)
  const change = (changes: Partial<Order>): void => setOrder({ ...order, ...changes })
  const known = templates.find(({ id }) => id === knownId)
  const write = useWrite(() => operatorRequest('POST', '/template-imports', bodyOf(order, known)), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.started,
    onDone: onClose,
  })
  const field = (name: 'slug' | 'name' | 'version' | 'distribution' | 'defaultUser' | 'url' | 'checksum' | 'checksumsUrl') => ({
    value: order[name],
    onChange: (event: { currentTarget: { value: string } }) => change({ [name]: event.currentTarget.value }),
    error: fieldError(write.error, name),
    autoComplete: 'off',
    spellCheck: false,
  })
  return (
    <Dialog title={w.open} onClose={onClose} size="lg">
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.submit} onCancel={onClose}>
        <p className="muted">{w.about}</p>
        <NativeSelect
          label={w.template}
          value={knownId}
          onChange={(event) => setKnownId(event.currentTarget.value)}
          data={[
            { value: '', label: w.another },
            ...templates.map((each) => ({ value: each.id, label: `${formatOs(each)} (${each.slug})` })),
          ]}
        />
        <TextInput label={w.url} description={known?.canImport ? w.urlKnown : w.urlHint} data-autofocus {...field('url')} />
        <TextInput label={w.checksum} description={w.checksumHint} {...field('checksum')} />
        <TextInput label={w.checksumsUrl} description={w.checksumsHint} {...field('checksumsUrl')} />
        {!known && (
          <>
            <TextInput label={w.slug} description={w.slugHint} {...field('slug')} />
            <TextInput label={w.name} {...field('name')} />
            <TextInput label={w.version} {...field('version')} />
            <TextInput label={w.distribution} {...field('distribution')} />
            <NativeSelect
              label={w.arch}
              value={order.arch}
              onChange={(event) => change({ arch: event.currentTarget.value })}
              data={['x86_64', 'aarch64']}
            />
            <TextInput label={w.user} {...field('defaultUser')} />
            {(['minDisk', 'minRam'] as const).map((name) => (
              <NumberInput
                key={name}
                label={w[name]}
                min={1}
                value={order[name]}
                onChange={(value) => change({ [name]: Number(value) })}
                error={fieldError(write.error, name)}
              />
            ))}
            <NativeSelect
              label={w.firmware}
              value={order.firmware}
              onChange={(event) => change({ firmware: event.currentTarget.value as Order['firmware'] })}
              data={Object.entries(w.firmwares).map(([value, label]) => ({ value, label }))}
              error={fieldError(write.error, 'firmware')}
            />
            <Switch label={w.tpm} checked={order.tpm} onChange={(event) => change({ tpm: event.currentTarget.checked })} />
            <Switch label={w.agent} checked={order.hasAgent} onChange={(event) => change({ hasAgent: event.currentTarget.checked })} />
          </>
        )}
      </Form>
    </Dialog>
  )
}
