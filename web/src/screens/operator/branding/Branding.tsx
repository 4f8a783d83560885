// How the product shows itself to customers. What it will look like is asked of the server while it is written, which says too what it would refuse.
import { Button, Switch, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../../api/client.ts'
import { fieldError } from '../../../api/errors.ts'
import {
  brandingPreviewQuery,
  brandingQuery,
  operatorRequest,
  type BrandingSettings,
  type OperatorBranding,
} from '../../../api/operator.ts'
import { Loaded } from '../../../ui/AsyncState.tsx'
import { ConfirmDialog } from '../../../ui/Dialogs.tsx'
import { Form } from '../../../ui/Form.tsx'
import { Card, Columns, Page, Stack } from '../../../ui/Page.tsx'
import { brandingMessages as w, commonMessages } from '../../../words/words.ts'
import css from './branding.module.css'
import { Images } from './Images.tsx'
import { MailTexts } from './MailTexts.tsx'
import { Preview } from './Preview.tsx'

export default function Branding() {
  const branding = useQuery(brandingQuery)
  const [isResetting, setResetting] = useState(false)
  const reset = (
    <Button variant="default" onClick={() => setResetting(true)}>
      {w.reset}
    </Button>
  )
  return (
    <Page title={w.title} about={w.about} actions={reset}>
      <Loaded of={branding}>{(data) => <BrandingForm key={data.changedAt} branding={data} />}</Loaded>
      {isResetting && <Reset onClose={() => setResetting(false)} />}
    </Page>
  )
}

function Reset({ onClose }: { onClose: () => void }) {
  const write = useWrite(() => operatorRequest('DELETE', '/branding'), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.resetDone,
    onDone: onClose,
  })
  return (
    <ConfirmDialog title={w.resetTitle} submit={w.reset} write={write} onClose={onClose}>
      {w.resetAbout}
    </ConfirmDialog>
  )
}

const settingsOf = ({ productName, showName, accentLight, accentDark, links, mail }: OperatorBranding): BrandingSettings => ({
  productName,
  showName,
  accentLight,
  accentDark,
  links,
  mail,
})

const LINKS = ['imprint', 'privacy', 'terms', 'support', 'status'] as const
const PREVIEW_AFTER_MS = 400

function BrandingForm({ branding }: { branding: OperatorBranding }) {
  const [draft, setDraft] = useState(() => settingsOf(branding))
  const [settled] = useDebouncedValue(draft, PREVIEW_AFTER_MS)
  const preview = useQuery(brandingPreviewQuery(settled))
  const save = useWrite(() => operatorRequest('PUT', '/branding', draft), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.saved,
  })
  const change = (changes: Partial<BrandingSettings>): void => setDraft({ ...draft, ...changes })
  const error = preview.error ?? save.error
  const accent = (field: 'accentLight' | 'accentDark') => (
    <TextInput
      label={w[field]}
      description={w[`${field}Hint`]}
      leftSection={<span className={css['swatch']} style={{ background: draft[field] ?? undefined }} />}
      value={draft[field] ?? ''}
      onChange={(event) => change({ [field]: event.currentTarget.value.trim() || null })}
      error={fieldError(error, field)}
      maw={420}
    />
  )
  return (
    <Form
      onSubmit={() => save.mutate()}
      busy={save.isPending}
      error={save.error}
      submit={commonMessages.save}
      disabled={JSON.stringify(draft) === JSON.stringify(settingsOf(branding))}
    >
      <Columns>
        <Card title={w.look}>
          <Stack>
            <TextInput
              label={w.productName}
              maxLength={60}
              value={draft.productName}
              onChange={(event) => change({ productName: event.currentTarget.value })}
              error={fieldError(error, 'productName')}
              maw={420}
            />
            <Images images={branding.images} />
            <Switch label={w.showName} checked={draft.showName} onChange={(event) => change({ showName: event.currentTarget.checked })} />
            {accent('accentLight')}
            {accent('accentDark')}
          </Stack>
        </Card>
        <Preview settings={draft} accents={preview.data?.accents ?? null} images={branding.images} />
      </Columns>
      <Card title={w.links} about={w.linksAbout}>
        <div className={css['fields']}>
          {LINKS.map((name) => (
            <TextInput
              key={name}
              label={w.link[name]}
              type="url"
              value={draft.links[name] ?? ''}
              onChange={(event) => change({ links: { ...draft.links, [name]: event.currentTarget.value.trim() || null } })}
              error={fieldError(error, `links.${name}`)}
            />
          ))}
        </div>
      </Card>
      <MailTexts
        mail={draft.mail}
        kinds={branding.mailKinds}
        preview={preview.data?.mails ?? []}
        error={error}
        onChange={(mail) => change({ mail: { ...draft.mail, ...mail } })}
      />
    </Form>
  )
}
