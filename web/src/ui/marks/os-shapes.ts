// Marks of operating systems: drawn for Berth, in a colour of the distribution, and no one's trademark or logo. White lines on the colour, in a
// square of 24; NOTICE says so too.
export interface OsShape {
  colour: string
  /** Lines. */
  lines: string
  /** Filled areas. */
  areas?: string
}

const NEUTRAL: OsShape = { colour: '#5b6b68', lines: 'M6 8l4 4-4 4M12.5 16.5h5.5' }

const SHAPES: Record<string, OsShape> = {
  debian: {
    colour: '#a81d4d',
    lines: 'M13.6 18.8a7 7 0 1 1 4.9-8.2c.5 2.7-1.2 4.7-3.3 4.7-1.9 0-3.2-1.4-3.2-3 0-1.3.9-2.3 2.1-2.3',
  },
  ubuntu: {
    colour: '#d9480f',
    lines: 'M9.2 7.8a5 5 0 0 1 7.3 2.5M17 12.7a5 5 0 0 1-4.6 4.2M8.2 15.3a5 5 0 0 1-.6-5.6',
    areas:
      'M7 8.6a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4ZM18.3 13a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4ZM9.6 19.3a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4Z',
  },
  alpine: { colour: '#0d597f', lines: 'M3.5 17.5 9 8.5l5.5 9M12 13.3l3-4.8 5.5 9' },
  almalinux: {
    colour: '#1f5fa8',
    lines: 'M12 12V6.2M12 12l5.5-1.8M12 12l3.4 4.7M12 12l-3.4 4.7M12 12l-5.5-1.8',
    areas:
      'M12 7a1.9 1.9 0 1 0 0-3.8A1.9 1.9 0 0 0 12 7ZM18.3 12a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8ZM15.9 19.2a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8ZM8.1 19.2a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8ZM5.7 12a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8Z',
  },
  rocky: { colour: '#08805b', lines: 'M4.5 16.5 12.8 8l6.7 6.8M9.3 19l3.5-3.7 3.7 3.7' },
  fedora: { colour: '#3458a4', lines: 'M16.5 6.3c-2.8-1-4.8.6-4.8 3.2v5.2c0 2.6-1.6 4.2-4.2 3.4M8 12.3h7' },
  opensuse: {
    colour: '#4a7f13',
    lines: 'M4 9.8c3-3.5 9.3-4.3 12.9-1.8 2.7 1.9 3.3 5.2 1.3 6.7-1.7 1.3-4 .1-4-1.7 0-1.3 1-2.1 2-2M4 9.8c.6 4.4 3.6 7.2 7.5 7.6',
  },
  arch: {
    colour: '#1272a8',
    lines:
      'M5 19C8 14.5 10.5 9.8 12 4.8c1.5 5 4 9.7 7 14.2-1.7-1.2-3-1.9-4.4-2.3 0-1.9-1.1-3.2-2.6-3.2s-2.6 1.3-2.6 3.2C8 17.1 6.7 17.8 5 19Z',
  },
  freebsd: {
    colour: '#a3282b',
    lines:
      'M12 19a6.3 6.3 0 1 0 0-12.6A6.3 6.3 0 0 0 12 19ZM7.6 8.2C6.3 7 5.4 5.9 5.2 4.7c1.6-.2 3.2.6 4.4 1.9M16.4 8.2c1.3-1.2 2.2-2.3 2.4-3.5-1.6-.2-3.2.6-4.4 1.9',
  },
  windows: { colour: '#2f6f9f', lines: '', areas: 'M5 5.5h6.3v6H5ZM12.7 5.5H19v6h-6.3ZM5 12.9h6.3v6H5ZM12.7 12.9H19v6h-6.3Z' },
  tiny: {
    colour: '#0b6e61',
    lines: 'M4 15c1.6 1.6 3.4 1.6 5 0 1.6 1.6 4.4 1.6 6 0 1.6 1.6 3.4 1.6 5 0M7 11.5h10l-1.2 2.4M12 11.5v-6l4 3.7h-4',
  },
  imported: { colour: '#6b5b95', lines: 'M5 8.3 12 5l7 3.3v7.4L12 19l-7-3.3ZM5 8.3l7 3.4 7-3.4M12 11.7V19' },
}

const OTHER_NAMES: Record<string, string> = {
  alma: 'almalinux',
  rockylinux: 'rocky',
  suse: 'opensuse',
  'opensuse-leap': 'opensuse',
  archlinux: 'arch',
}

/** By the word of the catalog; whatever has none gets a neutral mark. */
export function osShape(distribution: string): OsShape {
  const word = distribution.toLowerCase().trim()
  return Object.hasOwn(SHAPES, word) ? SHAPES[word]! : (SHAPES[OTHER_NAMES[word] ?? ''] ?? NEUTRAL)
}
