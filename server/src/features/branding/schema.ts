import { nameText, nullable, object, oneOf, plainText, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { LANGUAGES, MAIL_KINDS } from './mails.schema.ts'

const language = oneOf([...LANGUAGES])
const Colour = Type.String({ pattern: '^#[\\da-fA-F]{6}$', rule: 'must be a colour such as #0b6e61' })
const Link = nullable(Type.String({ minLength: 1, maxLength: 300 }))
const perLanguage = <T extends ReturnType<typeof plainText>>(schema: T) => object({ en: nullable(schema), de: nullable(schema) })

const MailText = object({
  kind: oneOf(MAIL_KINDS),
  language,
  subject: nameText(1, 150),
  body: plainText(1, 5_000),
})

const settings = {
  productName: nameText(1, 60),
  showName: Type.Boolean({ description: 'Whether the name stands beside the logo' }),
  accentLight: nullable({ ...Colour, description: 'Of buttons in the light theme; null: as it comes' }),
  accentDark: nullable({ ...Colour, description: 'Of buttons in the dark theme; null: that of the light one' }),
  links: object({ imprint: Link, privacy: Link, terms: Link, support: Link, status: Link }, { description: 'URLs' }),
  mail: object({
    senderName: nullable(nameText(1, 60)),
    language: { ...language, description: 'Of mails to people whose language is not known' },
    signature: perLanguage(plainText(1, 1_000)),
    texts: Type.Array(MailText, { maxItems: 100, description: 'In place of those that mails come with' }),
  }),
}

export const BrandingSettings = object(settings)
export type BrandingSettings = Static<typeof BrandingSettings>

export const IMAGE_NAMES = ['logo', 'logo-dark', 'favicon'] as const
export type ImageName = (typeof IMAGE_NAMES)[number]

const Image = nullable(object({ path: Type.String(), type: Type.String() }))

/** As base64, in the JSON of a request. */
export const LARGEST_IMAGE = 128 * 1024
export const BrandingImage = object({
  data: Type.String({
    minLength: 4,
    maxLength: Math.ceil(LARGEST_IMAGE / 3) * 4,
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    rule: 'must be an SVG or PNG file of at most 128 KiB, as base64',
  }),
})

const Text = object({ subject: Type.String(), body: Type.String() })

export const OperatorBranding = object(
  {
    ...settings,
    images: object({ logo: Image, 'logo-dark': Image, favicon: Image }),
    changedAt: nullable(Timestamp),
    mailKinds: Type.Array(
      object(
        { kind: oneOf(MAIL_KINDS), placeholders: Type.Array(Type.String()), texts: object({ en: Text, de: Text }) },
        { title: 'MailKind' },
      ),
      { description: 'The texts that mails come with, and what own ones may name in braces' },
    ),
  },
  { title: 'OperatorBranding' },
)
export type OperatorBranding = Static<typeof OperatorBranding>

const Accent = object({ accent: Type.String(), text: Type.String(), soft: Type.String() })

export const BrandingPreview = object(
  {
    accents: nullable(object({ light: Accent, dark: Accent })),
    mails: Type.Array(
      object({ kind: oneOf(MAIL_KINDS), language, from: nullable(Type.String()), subject: Type.String(), text: Type.String() }),
    ),
  },
  { title: 'BrandingPreview' },
)
export type BrandingPreview = Static<typeof BrandingPreview>
