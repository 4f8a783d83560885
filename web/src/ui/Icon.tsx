// Drawn on a grid of 20, as lines of one width, so that they sit beside text.
const SHAPES = {
  home: 'M3.5 9 10 3.5 16.5 9v7a.5.5 0 0 1-.5.5h-4v-5H8v5H4a.5.5 0 0 1-.5-.5Z',
  server: 'M3.5 4h13v5h-13ZM3.5 11h13v5h-13ZM6.5 6.5h.01M6.5 13.5h.01M9.5 6.5h4M9.5 13.5h4',
  key: 'M12.5 11.5a4 4 0 1 0-3.6-2.3L3.5 14.6v2h2.6v-2h2v-2l1.2-1.3c.9.3 1.9.4 3.2.2ZM13.2 6.8h.01',
  network: 'M7.5 3.5h5v4h-5ZM3 12.5h5v4H3ZM12 12.5h5v4h-5ZM10 7.5V10M5.5 12.5V10h9v2.5',
  shield: 'M10 3 16 5v5c0 3.6-2.5 6-6 7-3.5-1-6-3.4-6-7V5ZM7.5 10l1.8 1.8L12.8 8',
  gauge: 'M4.5 15a7 7 0 1 1 11 0M10 11l3-4M10 11h.01',
  wallet: 'M3.5 6.5h12a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1ZM3.5 6.5 13 3.5v3M13 11.5h.01',
  webhook:
    'M6.5 13.5a2.5 2.5 0 1 0 2.4 3.2M7 13.5 10 8.3M10 8.3A2.5 2.5 0 1 1 12.2 5M13.5 11a2.5 2.5 0 1 1-1.8 4.2M13.5 15H9M13.3 12.5l-2.8-4.2',
  pulse: 'M2.5 10.5h3.5l2-5.5 4 10 2-4.5h3.5',
  buoy: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM10 7.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM5 5l3 3M12 12l3 3M15 5l-3 3M8 12l-3 3',
  list: 'M7 5.5h9.5M7 10h9.5M7 14.5h9.5M3.5 5.5h.01M3.5 10h.01M3.5 14.5h.01',
  settings: 'M4 6h5M13 6h3M11 4v4M4 14h3M11 14h5M9 12v4',
  sun: 'M10 6.7a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6ZM10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M15.3 4.7l-1 1M5.7 14.3l-1 1',
  moon: 'M16 11.8A6.6 6.6 0 0 1 8.2 4a6.6 6.6 0 1 0 7.8 7.8Z',
  menu: 'M3.5 5.5h13M3.5 10h13M3.5 14.5h13',
  plus: 'M10 4v12M4 10h12',
  copy: 'M7.5 7.5h8v8h-8ZM12.5 7.5v-3h-8v8h3',
  check: 'm4.5 10.5 3.7 3.7 7.3-8',
  cross: 'M5 5l10 10M15 5 5 15',
  trash: 'M4 6h12M8 6V4h4v2M5.5 6l.7 10h7.6l.7-10M8.5 9v4M11.5 9v4',
  play: 'M6.5 4.5v11l9-5.5Z',
  stop: 'M5.5 5.5h9v9h-9Z',
  restart: 'M15.5 8A6 6 0 1 0 16 11M16 4v4h-4',
  terminal: 'M3 4.5h14v11H3ZM6 8l2.2 2L6 12M10.5 12.5h3.5',
  right: 'M8 5l5 5-5 5',
  up: 'M10 15V5M5.5 9.5 10 5l4.5 4.5',
  down: 'M10 5v10M5.5 10.5 10 15l4.5-4.5',
  more: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  drag: 'M7.5 5h.01M12.5 5h.01M7.5 10h.01M12.5 10h.01M7.5 15h.01M12.5 15h.01',
  out: 'M8 4.5H4.5v11h11V12M11.5 4.5h4v4M15.5 4.5 9 11',
  warning: 'M10 3.5 17.5 16h-15ZM10 8v4M10 14h.01',
  camera: 'M3.5 6.5h3l1.3-2h4.4l1.3 2h3v9.5h-13ZM10 8.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4Z',
  user: 'M10 3.5a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4ZM3.8 16.5c.5-3 2.9-4.6 6.2-4.6s5.7 1.6 6.2 4.6',
  users:
    'M7.5 4.5a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2ZM2.5 15.5c.4-2.6 2.3-3.8 5-3.8s4.6 1.2 5 3.8M13 5a2.4 2.4 0 0 1 0 4.5M14.5 12c1.7.4 2.7 1.6 3 3.5',
  leave: 'M12 4H4.5v12H12M9 10h8M14 7l3 3-3 3',
  box: 'M3.5 6.5 10 3.5l6.5 3v7l-6.5 3-6.5-3ZM3.5 6.5 10 9.5l6.5-3M10 9.5v7',
  tag: 'M4 4h6l6.5 6.5-6 6L4 10ZM7.3 7.3h.01',
  globe: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM3 10h14M10 3c2 2 3 4.500 3 7s-1 5-3 7c-2-2-3-4.500-3-7s1-5 3-7Z',
  lock: 'M5 9h10v7.500H5ZM7 9V6.500a3 3 0 0 1 6 0V9',
  chart: 'M3.500 3.500v13h13M6.500 12.500l3-3.500 2.500 2 4-5',
  code: 'M7 6l-4 4 4 4M13 6l4 4-4 4',
  book: 'M4 4h5a1.500 1.500 0 0 1 1 .5 1.500 1.500 0 0 1 1-.5h5v11.500h-5l-1 .8-1-.8H4ZM10 4.500v11.800',
  heart: 'M10 16.500C5 13 3 10.500 3 7.800A3.500 3.500 0 0 1 10 6.500a3.500 3.500 0 0 1 7 1.300c0 2.700-2 5.200-7 8.700Z',
} as const

export type IconName = keyof typeof SHAPES

export const Icon = ({ name, size = 18 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    strokeWidth={1.6}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    style={{ flexShrink: 0 }}
  >
    <path d={SHAPES[name]} />
  </svg>
)
