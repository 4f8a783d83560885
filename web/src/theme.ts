// Gives the design scale of design/tokens.css to Mantine.
import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

const shades = (name: string): MantineColorsTuple => {
  const shade = (index: number): string => `var(--${name}-${index})`
  return [shade(0), shade(1), shade(2), shade(3), shade(4), shade(5), shade(6), shade(7), shade(8), shade(9)]
}

export const theme = createTheme({
  colors: { tide: shades('brand'), gray: shades('gray'), dark: shades('dark'), red: shades('red') },
  primaryColor: 'tide',
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: 'var(--radius-md)',
  cursorType: 'pointer',
  focusRing: 'auto',
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--font-mono)',
  fontSizes: { xs: 'var(--text-xs)', sm: 'var(--text-md)', md: 'var(--text-lg)', lg: 'var(--text-xl)', xl: 'var(--text-2xl)' },
  spacing: { xs: 'var(--space-2-5)', sm: 'var(--space-3)', md: 'var(--space-4)', lg: 'var(--space-5)', xl: 'var(--space-8)' },
  radius: { xs: 'var(--radius-xs)', sm: 'var(--radius-sm)', md: 'var(--radius-md)', lg: 'var(--radius-lg)', xl: 'var(--radius-xl)' },
  shadows: {
    xs: 'var(--shadow-sm)',
    sm: 'var(--shadow-sm)',
    md: 'var(--shadow-md)',
    lg: 'var(--shadow-lg)',
    xl: 'var(--shadow-lg)',
  },
  headings: {
    fontWeight: 'var(--weight-title)',
    sizes: {
      h1: { fontSize: 'var(--text-2xl)', lineHeight: 'var(--leading-tight)' },
      h2: { fontSize: 'var(--text-lg)', lineHeight: 'var(--leading-tight)' },
    },
  },
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'sm', fw: 'var(--weight-strong)' } },
    Modal: {
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.45 },
        padding: 'lg',
        radius: 'lg',
        styles: { title: { fontWeight: 'var(--weight-title)', lineHeight: 'var(--leading-tight)', minWidth: 0, overflowWrap: 'anywhere' } },
        transitionProps: { duration: 120 },
      },
    },
    Menu: { defaultProps: { radius: 'md', shadow: 'md' } },
    Tooltip: { defaultProps: { withArrow: true, multiline: true, maw: 280, events: { hover: true, focus: true, touch: true } } },
    TextInput: { defaultProps: { size: 'sm' } },
    Alert: { defaultProps: { variant: 'light', radius: 'md' } },
  },
})

const ours = {
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-dimmed': 'var(--muted)',
  '--mantine-color-placeholder': 'var(--placeholder)',
  '--mantine-color-anchor': 'var(--accent-text)',
  '--mantine-color-error': 'var(--bad)',
}

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: ours, dark: ours })
