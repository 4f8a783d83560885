// Links of the provider: who they are, what they promise, and where to ask.
import { skin } from '../skin.ts'
import { shellMessages as w } from '../words/words.ts'

const NAMES = ['imprint', 'privacy', 'terms', 'support', 'status'] as const

export const hasProviderLinks = NAMES.some((name) => skin.links[name] !== undefined)

export const ProviderLinks = ({ className }: { className?: string | undefined }) =>
  NAMES.map((name) => {
    const href = skin.links[name]
    return (
      href !== undefined && (
        <a key={name} className={className} href={href} target="_blank" rel="noreferrer">
          {w.links[name]}
        </a>
      )
    )
  })
