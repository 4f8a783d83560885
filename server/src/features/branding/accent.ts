// The shades of the dashboard around the accent that an operator has chosen. Text on every one keeps a contrast of 4.5 to 1: an accent on which white
// text would not is refused, and what is written in the colour is darkened or lightened until it does.
import { invalid } from '../../kernel/errors.ts'

type Rgb = [number, number, number]

const LEAST = 4.5
const WHITE: Rgb = [255, 255, 255]
const BLACK: Rgb = [0, 0, 0]
/** Surfaces of web/src/design/tokens.css that text in the accent stands on, the hardest to read on of each theme. */
const SUNKEN: Rgb = [0xec, 0xf0, 0xee]
const RAISED: Rgb = [0x24, 0x32, 0x30]
const DARK_SURFACE: Rgb = [0x12, 0x1c, 0x1a]

const parse = (hex: string): Rgb => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as Rgb
const format = (rgb: Rgb): string => `#${rgb.map((each) => Math.round(each).toString(16).padStart(2, '0')).join('')}`
const rounded = (rgb: Rgb): Rgb => parse(format(rgb))
const mix = (one: Rgb, other: Rgb, share: number): Rgb => one.map((each, index) => each + (other[index]! - each) * share) as Rgb

/** Relative luminance of WCAG 2. */
function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((each) => (each <= 10.31475 ? each / 3294.6 : ((each / 255 + 0.055) / 1.055) ** 2.4)) as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** The first of the way to `end`, rounded as it is shown, that can be read on all of `grounds`. */
function readableOn(grounds: Rgb[], colour: Rgb, end: Rgb): Rgb {
  for (let share = 0; share < 1; share += 0.01) {
    const candidate = rounded(mix(colour, end, share))
    if (grounds.every((ground) => contrast(candidate, ground) >= LEAST)) return candidate
  }
  return end
}

export function requireReadable(colour: string, field: string): void {
  const found = contrast(parse(colour), WHITE)
  if (found >= LEAST) return
  const better = format(readableOn([WHITE], parse(colour), BLACK))
  const shown = (Math.floor(found * 10) / 10).toFixed(1)
  throw invalid(`white text on ${colour} has a contrast of ${shown}:1, and buttons need ${LEAST}:1. ${better} has it`, field)
}

interface Accent {
  accent: string
  /** What is written in the colour. */
  text: string
  /** Behind what is chosen. */
  soft: string
}

export interface Accents {
  light: Accent
  dark: Accent
}

export function accentsOf(light: string, dark: string): Accents {
  const [lightSoft, darkSoft] = [rounded(mix(parse(light), WHITE, 0.9)), rounded(mix(parse(dark), DARK_SURFACE, 0.75))]
  return {
    light: { accent: light, text: format(readableOn([lightSoft, SUNKEN], parse(light), BLACK)), soft: format(lightSoft) },
    dark: { accent: dark, text: format(readableOn([darkSoft, RAISED], parse(dark), WHITE)), soft: format(darkSoft) },
  }
}

/** How far each of ten shades is from the accent, to white where negative, to black where positive. The dashboard fills buttons with the eighth in the
 *  light theme, and with the seventh in the dark one; whoever points at them sees the next. */
const LIGHT = [-0.92, -0.84, -0.68, -0.5, -0.34, -0.18, -0.08, 0, 0.2, 0.4]
const DARK = [-0.92, -0.84, -0.68, -0.5, -0.34, -0.18, 0, 0.14, 0.3, 0.45]

const shade = (accent: Rgb, way: number): string => format(mix(accent, way < 0 ? WHITE : BLACK, Math.abs(way)))

function properties({ accent, text, soft }: Accent, ways: number[]): string {
  const shades = ways.map((way, index) => `--brand-${index}:${shade(parse(accent), way)};`)
  return `${shades.join('')}--accent-text:${text};--accent-soft:${soft}`
}

/** In place of those of tokens.css; the operator's area keeps its own. */
export const dashboardCss = ({ light, dark }: Accents): string =>
  `:root{${properties(light, LIGHT)}}[data-mantine-color-scheme=dark]{${properties(dark, DARK)}}`

/** In place of those of the documentation (http/docs/files/style.css). */
export function docsCss({ light, dark }: Accents): string {
  const both = (name: keyof Accent): string => `light-dark(${light[name]},${dark[name]})`
  return `:root{--accent:${both('accent')};--accent-text:${both('text')};--accent-soft:${both('soft')}}`
}
