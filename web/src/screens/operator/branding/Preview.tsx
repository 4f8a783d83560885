import type { CSSProperties } from 'react'
import type { BrandingPreview, BrandingSettings, OperatorBranding } from '../../../api/operator.ts'
import { Brand } from '../../../shell/Brand.tsx'
import { Card } from '../../../ui/Page.tsx'
import { brandingMessages as w, shellMessages } from '../../../words/words.ts'
import css from './branding.module.css'

const SCHEMES = ['light', 'dark'] as const
const LINKS = ['imprint', 'privacy', 'terms', 'support', 'status'] as const

interface Props {
  settings: BrandingSettings
  accents: BrandingPreview['accents']
  images: OperatorBranding['images']
}

/** The sign-in page in both themes, whichever this page has. */
export function Preview({ settings, accents, images }: Props) {
  const { productName: name, showName, links } = settings
  const light = images.logo?.path
  const logo = light === undefined ? null : { light, dark: images['logo-dark']?.path ?? light, showName }
  return (
    <Card title={w.preview}>
      <div className={css['previews']}>
        {SCHEMES.map((scheme) => (
          <figure key={scheme} className={css['preview']} data-mantine-color-scheme={scheme} style={styleOf(accents?.[scheme])}>
            <figcaption className={css['caption']}>{shellMessages.account.themes[scheme]}</figcaption>
            <Brand look={{ name, logo }} scheme={scheme} />
            <div className={css['panel']}>
              <span className={css['button']}>{w.sample.button}</span>
              <span className={css['link']}>{w.sample.link}</span>
              <span className={css['chosen']}>{w.sample.chosen}</span>
            </div>
            <div className={css['foot']}>
              {LINKS.filter((each) => links[each] !== null).map((each) => (
                <span key={each}>{shellMessages.links[each]}</span>
              ))}
            </div>
          </figure>
        ))}
      </div>
    </Card>
  )
}

const styleOf = (accent: NonNullable<BrandingPreview['accents']>['light'] | undefined): CSSProperties | undefined =>
  accent && ({ '--accent': accent.accent, '--accent-text': accent.text, '--accent-soft': accent.soft } as CSSProperties)
