// Colours and type. Every text and background pair meets the WCAG AA contrast ratio.
import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

const tide: MantineColorsTuple = [
  '#ecf8f5',
  '#d6efe9',
  '#abdfd3',
  '#7ccebc',
  '#55c0a9',
  '#35ab93',
  '#11806c',
  '#0b6e61',
  '#08574d',
  '#05413a',
]
const gray: MantineColorsTuple = [
  '#f5f7f6',
  '#ecf0ee',
  '#dfe5e2',
  '#cfd7d3',
  '#aeb9b5',
  '#7f8c88',
  '#596662',
  '#404c48',
  '#2a3431',
  '#161f1d',
]
const dark: MantineColorsTuple = [
  '#e4ebe9',
  '#c6d1ce',
  '#97a6a2',
  '#74847f',
  '#2f3e3b',
  '#243230',
  '#1a2624',
  '#121c1a',
  '#0c1413',
  '#080e0d',
]

const red: MantineColorsTuple = [
  '#fff0ef',
  '#fddedb',
  '#f7bcb7',
  '#ef958e',
  '#e57067',
  '#d9534a',
  '#c43c33',
  '#b42c23',
  '#96231c',
  '#7a1c16',
]

export const theme = createTheme({
  colors: { tide, gray, dark, red },
  primaryColor: 'tide',
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: 8,
  cursorType: 'pointer',
  focusRing: 'auto',
  fontFamily: 'Inter, "SF Pro Text", "Segoe UI Variable", "Segoe UI", Roboto, system-ui, sans-serif',
  fontFamilyMonospace: '"JetBrains Mono", ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace',
  fontSizes: { xs: '0.75rem', sm: '0.84375rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  headings: {
    fontWeight: '620',
    sizes: { h1: { fontSize: '1.375rem', lineHeight: '1.3' }, h2: { fontSize: '0.9375rem', lineHeight: '1.4' } },
  },
  components: {
    Button: { defaultProps: { size: 'sm', fw: 550 } },
    Modal: {
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.45 },
        padding: 'lg',
        radius: 12,
        styles: { title: { fontWeight: 640, lineHeight: 1.35, minWidth: 0, overflowWrap: 'anywhere' } },
        transitionProps: { duration: 120 },
      },
    },
    Tooltip: { defaultProps: { withArrow: true, multiline: true, maw: 280, events: { hover: true, focus: true, touch: true } } },
    TextInput: { defaultProps: { size: 'sm' } },
    Alert: { defaultProps: { variant: 'light', radius: 10 } },
  },
})

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--page': '#f4f6f5',
    '--surface': '#ffffff',
    '--line': '#dfe5e2',
    '--line-soft': '#ebefed',
    '--muted': '#596662',
    '--accent-text': '#0b6259',
    '--accent-soft': '#e3f3ef',
    '--buoy': '#b4491b',
    '--code': '#f1f4f3',
    '--mantine-color-placeholder': '#66736f',
    '--mantine-color-anchor': '#0b6259',
    '--mantine-color-error': '#b3261e',
  },
  dark: {
    '--page': '#0c1413',
    '--surface': '#121c1a',
    '--line': '#26342f',
    '--line-soft': '#1d2926',
    '--muted': '#97a6a2',
    '--accent-text': '#7ccebc',
    '--accent-soft': '#15302b',
    '--buoy': '#ffb38a',
    '--code': '#0c1413',
    '--mantine-color-placeholder': '#8a9995',
    '--mantine-color-anchor': '#7ccebc',
    '--mantine-color-error': '#ff9c94',
  },
})
