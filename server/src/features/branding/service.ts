// How the product shows itself to customers. Only operators change it.
import { DryRunResult } from '../../http/api/api.ts'
import { sha256 } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid } from '../../kernel/errors.ts'
import { requireReadable } from './accent.ts'
import { checkImage } from './image.ts'
import { LANGUAGES, MAIL_KINDS, MAILS, placeholdersOf, type Mailing } from './mails.schema.ts'
import { renderMail, requireKnownPlaceholders } from './render.ts'
import { IMAGE_NAMES, type BrandingPreview, type BrandingSettings, type ImageName, type OperatorBranding } from './schema.ts'
import { chosenAccents, DEFAULTS, pathOf } from './skin.ts'
import * as sql from './sql.ts'
import type { BrandingStore } from './store.ts'
import { TEXTS } from './texts.ts'

export { languageOf } from './languages.ts'
export { line, renderMail, sentence } from './render.ts'
export { openBranding } from './store.ts'

interface BrandingDeps {
  clock: { now(): Date }
  branding: BrandingStore
}

const MAIL_TEXTS = MAIL_KINDS.map((kind) => ({
  kind,
  placeholders: placeholdersOf(kind),
  texts: { en: TEXTS.en[kind], de: TEXTS.de[kind] },
}))

export async function getBranding(db: Queries): Promise<OperatorBranding> {
  const { settings, changed_at, images } = await sql.findBranding(db)
  const of = (name: ImageName) => {
    const image = images.find((each) => each.name === name)
    return image ? { path: pathOf(image), type: image.type } : null
  }
  return {
    ...(settings ?? DEFAULTS),
    images: { logo: of('logo'), 'logo-dark': of('logo-dark'), favicon: of('favicon') },
    changedAt: changed_at?.toISOString() ?? null,
    mailKinds: MAIL_TEXTS,
  }
}

export async function changeBranding(
  tx: Tx,
  { clock, branding }: BrandingDeps,
  input: BrandingSettings,
  dryRun = false,
): Promise<OperatorBranding | DryRunResult<BrandingPreview>> {
  requireSound(input)
  if (dryRun) return new DryRunResult(preview(input))
  await sql.saveBranding(tx, clock.now(), input)
  tx.afterCommit(() => branding.forget())
  return getBranding(tx)
}

/** All of it, images too, is as it comes again. */
export async function resetBranding(tx: Tx, { branding }: Pick<BrandingDeps, 'branding'>): Promise<OperatorBranding> {
  await sql.deleteBranding(tx)
  tx.afterCommit(() => branding.forget())
  return getBranding(tx)
}

export async function setImage(
  tx: Tx,
  { branding }: Pick<BrandingDeps, 'branding'>,
  name: string,
  base64: string | null,
): Promise<OperatorBranding> {
  const which = IMAGE_NAMES.find((each) => each === name)
  if (!which) throw invalid(`name must be one of ${IMAGE_NAMES.join(', ')}`, 'name')
  if (base64 === null) await sql.deleteImage(tx, which)
  else {
    const { bytes, type } = checkImage(base64)
    await sql.saveImage(tx, { name: which, hash: sha256(bytes).toString('hex').slice(0, 32), type, bytes })
  }
  tx.afterCommit(() => branding.forget())
  return getBranding(tx)
}

function requireSound({ productName, accentLight, accentDark, links, mail }: BrandingSettings): void {
  if (productName.trim() === '') throw invalid('the product must have a name', 'productName')
  if (accentLight === null && accentDark !== null) throw invalid('the light theme needs a colour, too', 'accentLight')
  if (accentLight !== null) requireReadable(accentLight, 'accentLight')
  if (accentDark !== null) requireReadable(accentDark, 'accentDark')
  for (const [name, link] of Object.entries(links)) if (link !== null) requireLink(link, name)
  requireSoundMail(mail)
}

/** Only these schemes: a link of another could run a script. */
function requireLink(link: string, name: string): void {
  const schemes = name === 'support' ? /^(https?|mailto):/i : /^https?:/i
  if (!schemes.test(link) || !URL.canParse(link))
    throw invalid(
      `must be a URL such as https://example.com/${name}${name === 'support' ? ', or mailto:support@example.com' : ''}`,
      `links.${name}`,
    )
}

function requireSoundMail({ senderName, signature, texts }: BrandingSettings['mail']): void {
  if (senderName !== null && /[<>"@,;:\\]/.test(senderName))
    throw invalid('the name of the sender must not contain any of < > " @ , ; : \\', 'mail.senderName')
  for (const language of LANGUAGES) {
    const unknown = /\{(?!(?:product|recipient)\})[^{}]*\}/.exec(signature[language] ?? '')
    if (unknown) throw invalid(`${unknown[0]} is unknown: a signature may name {product} and {recipient}`, `mail.signature.${language}`)
  }
  const seen = new Set<string>()
  for (const [index, { kind, language, ...text }] of texts.entries()) {
    const field = `mail.texts.${index}`
    if (text.subject.trim() === '' || text.body.trim() === '') throw invalid('a mail must say something', `${field}.body`)
    requireKnownPlaceholders(kind, text, field)
    if (seen.has(`${kind} ${language}`)) throw invalid(`there are two texts for ${kind} in one language`, field)
    seen.add(`${kind} ${language}`)
  }
}

function preview(settings: BrandingSettings): BrandingPreview {
  const mails = MAIL_KINDS.flatMap((kind) =>
    LANGUAGES.map((language) => {
      const { senderName, subject, text } = renderMail(settings, { kind, values: MAILS[kind] } as Mailing, 'ada@example.com', language)
      return { kind, language, from: senderName, subject, text }
    }),
  )
  return { accents: chosenAccents(settings), mails }
}
