// How pages show the product: as it comes, or as an operator has made it.
import { escapeHtml } from './html-page.ts'

export interface Skin {
  name: string
  /** Path of the icon of browser tabs. */
  icon: string
  /** Paths. `showName`: beside it. */
  logo: { light: string; dark: string; showName: boolean } | null
  /** URLs by what they lead to. */
  links: Record<string, string>
  /** Custom properties of the dashboard, and those of the documentation; empty as it comes. */
  css: string
  docsCss: string
}

export const PLAIN: Skin = { name: 'Berth', icon: '/favicon.svg', logo: null, links: {}, css: '', docsCss: '' }

/** The dashboard's page: what it needs before it draws anything is in it. Data is no script, so the content security policy allows it. */
export function dress(html: string, { name, icon, logo, links, css }: Skin): string {
  const data = JSON.stringify({ name, logo, links }).replaceAll('<', '\\u003c')
  const head = `<script type="application/json" id="skin">${data}</script>${css && `<style>${css}</style>`}`
  return html
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escapeHtml(name)}</title>`)
    .replace(/<link rel="icon"[^>]*>/, () => `<link rel="icon" href="${escapeHtml(icon)}" />`)
    .replace('</head>', () => `${head}</head>`)
}
