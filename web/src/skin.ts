// How an operator has made the product look. The server writes it into the page, so that nothing waits for it; the colours are there as a style.
export interface Skin {
  name: string
  /** Paths. */
  logo: { light: string; dark: string; showName: boolean } | null
  links: Partial<Record<'imprint' | 'privacy' | 'terms' | 'support' | 'status', string>>
}

const written = typeof document === 'undefined' ? undefined : document.getElementById('skin')?.textContent

export const skin: Skin = written ? (JSON.parse(written) as Skin) : { name: 'Berth', logo: null, links: {} }

/** Of the browser's tab. */
export const titleOf = (title: string): string => `${title} · ${skin.name}`
