import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { fieldError } from '../../../api/errors.ts'
import type { BrandingPreview, BrandingSettings, MailLanguage, MailText, OperatorBranding } from '../../../api/operator.ts'
import { Card, Columns, Row, Stack } from '../../../ui/Page.tsx'
import { LANGUAGES } from '../../../words/language.ts'
import { brandingMessages as w } from '../../../words/words.ts'
import css from './branding.module.css'

type Mail = BrandingSettings['mail']

interface Props {
  mail: Mail
  kinds: OperatorBranding['mailKinds']
  preview: BrandingPreview['mails']
  error: unknown
  onChange: (changes: Partial<Mail>) => void
}

const CODES = Object.keys(LANGUAGES) as MailLanguage[]
const languages = CODES.map((value) => ({ value, label: LANGUAGES[value] }))
const kindNames: Record<string, string> = w.kinds

export function MailTexts({ mail, kinds, preview, error, onChange }: Props) {
  return (
    <>
      <Card title={w.mails} about={w.mailsAbout}>
        <Stack>
          <div className={css['fields']}>
            <TextInput
              label={w.senderName}
              description={w.senderNameHint}
              maxLength={60}
              value={mail.senderName ?? ''}
              onChange={(event) => onChange({ senderName: event.currentTarget.value || null })}
              error={fieldError(error, 'mail.senderName')}
            />
            <NativeSelect
              label={w.mailLanguage}
              description={w.mailLanguageHint}
              data={languages}
              value={mail.language}
              onChange={(event) => onChange({ language: event.currentTarget.value as MailLanguage })}
            />
          </div>
          <div className={css['fields']}>
            {CODES.map((code) => (
              <Textarea
                key={code}
                label={w.signature(LANGUAGES[code])}
                autosize
                minRows={2}
                maxLength={1_000}
                value={mail.signature[code] ?? ''}
                onChange={(event) => onChange({ signature: { ...mail.signature, [code]: event.currentTarget.value || null } })}
                error={fieldError(error, `mail.signature.${code}`)}
              />
            ))}
          </div>
        </Stack>
      </Card>
      <OneText mail={mail} kinds={kinds} preview={preview} error={error} onChange={onChange} />
    </>
  )
}

function OneText({ mail, kinds, preview, error, onChange }: Props) {
  const [kind, setKind] = useState(kinds[0]!.kind)
  const [language, setLanguage] = useState<MailLanguage>(mail.language)
  const isShown = (each: { kind: string; language: MailLanguage }): boolean => each.kind === kind && each.language === language
  const index = mail.texts.findIndex(isShown)
  const { placeholders, texts } = kinds.find((each) => each.kind === kind)!
  const text = mail.texts[index] ?? texts[language]
  const others = mail.texts.filter((each) => !isShown(each))
  const write = (changes: Partial<MailText>): void =>
    onChange({ texts: [...others, { kind, language, subject: text.subject, body: text.body, ...changes }] })
  const shown = preview.find(isShown)
  return (
    <Card title={w.texts} about={w.textsAbout}>
      <Columns>
        <Stack>
          <NativeSelect
            label={w.kind}
            data={kinds.map((each) => ({ value: each.kind, label: kindNames[each.kind] ?? each.kind }))}
            value={kind}
            onChange={(event) => setKind(event.currentTarget.value)}
          />
          <NativeSelect
            label={w.textLanguage}
            data={languages}
            value={language}
            onChange={(event) => setLanguage(event.currentTarget.value as MailLanguage)}
          />
          <TextInput
            label={w.subject}
            maxLength={150}
            value={text.subject}
            onChange={(event) => write({ subject: event.currentTarget.value })}
            error={fieldError(error, `mail.texts.${index}.subject`)}
          />
          <Textarea
            label={w.body}
            description={w.bodyHint(placeholders.map((name) => `{${name}}`).join(', '))}
            autosize
            minRows={8}
            maxLength={5_000}
            value={text.body}
            onChange={(event) => write({ body: event.currentTarget.value })}
            error={fieldError(error, `mail.texts.${index}.body`)}
          />
          {index >= 0 && (
            <Row>
              <Button variant="default" size="xs" onClick={() => onChange({ texts: others })}>
                {w.builtIn}
              </Button>
            </Row>
          )}
        </Stack>
        <figure className={css['letter']} lang={language}>
          <figcaption className="muted" lang="">
            {w.mailPreview}
          </figcaption>
          <strong>{shown?.subject}</strong>
          {shown?.text.split('\n\n').map((paragraph) => (
            <p key={paragraph}>{paragraph}</p>
          ))}
        </figure>
      </Columns>
    </Card>
  )
}
