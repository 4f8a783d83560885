import { PLAIN, type Skin } from '../../http/server/skin.ts'
import { accentsOf, dashboardCss, docsCss, type Accents } from './accent.ts'
import type { BrandingSettings, ImageName } from './schema.ts'

/** As it comes. */
export const DEFAULTS: BrandingSettings = {
  productName: 'Berth',
  showName: true,
  accentLight: null,
  accentDark: null,
  links: { imprint: null, privacy: null, terms: null, support: null, status: null },
  mail: { senderName: null, language: 'en', signature: { en: null, de: null }, texts: [] },
}

export const FILES = '/branding/'

interface Image {
  name: ImageName
  hash: string
  type: string
}

export const pathOf = ({ hash, type }: Omit<Image, 'name'>): string => `${FILES}${hash}.${type === 'image/png' ? 'png' : 'svg'}`

/** Null: those that the dashboard comes with. */
export const chosenAccents = ({ accentLight, accentDark }: BrandingSettings): Accents | null =>
  accentLight === null ? null : accentsOf(accentLight, accentDark ?? accentLight)

export function toSkin(settings: BrandingSettings, images: Image[]): Skin {
  const of = (name: ImageName): string | undefined => images.filter((each) => each.name === name).map(pathOf)[0]
  const accents = chosenAccents(settings)
  const light = of('logo')
  return {
    name: settings.productName,
    icon: of('favicon') ?? PLAIN.icon,
    logo: light === undefined ? null : { light, dark: of('logo-dark') ?? light, showName: settings.showName },
    links: Object.fromEntries(Object.entries(settings.links).filter((entry): entry is [string, string] => entry[1] !== null)),
    css: accents ? dashboardCss(accents) : '',
    docsCss: accents ? docsCss(accents) : '',
  }
}
