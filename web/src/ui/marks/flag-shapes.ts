// Flags as a few shapes each, drawn for Berth: emoji flags are missing on some systems. In a rectangle of 60 by 40; emblems are simplified or left out.
export type FlagShape =
  | { kind: 'rect'; x: number; y: number; width: number; height: number; fill: string }
  | { kind: 'disc'; x: number; y: number; r: number; fill: string }
  | { kind: 'path'; d: string; fill: string }
  | { kind: 'line'; d: string; stroke: string; width: number }

const rect = (x: number, y: number, width: number, height: number, fill: string): FlagShape => ({ kind: 'rect', x, y, width, height, fill })
const disc = (x: number, y: number, r: number, fill: string): FlagShape => ({ kind: 'disc', x, y, r, fill })
const path = (d: string, fill: string): FlagShape => ({ kind: 'path', d, fill })
const line = (d: string, stroke: string, width: number): FlagShape => ({ kind: 'line', d, stroke, width })
const field = (fill: string): FlagShape => rect(0, 0, 60, 40, fill)

/** From top to bottom; each colour is as high as its weight. */
function rows(...stripes: (string | [string, number])[]): FlagShape[] {
  const weighted = stripes.map((each) => (typeof each === 'string' ? ([each, 1] as const) : each))
  const unit = 40 / weighted.reduce((sum, [, weight]) => sum + weight, 0)
  let y = 0
  return weighted.map(([fill, weight]) => {
    const shape = rect(0, y, 60, weight * unit, fill)
    y += weight * unit
    return shape
  })
}

const columns = (...fills: string[]): FlagShape[] =>
  fills.map((fill, index) => rect((index * 60) / fills.length, 0, 60 / fills.length, 40, fill))

/** A cross that reaches the edges, further to the left as in the north. */
const nordic = (ground: string, cross: string, inner?: string): FlagShape[] => [
  field(ground),
  rect(17, 0, 9, 40, cross),
  rect(0, 15.5, 60, 9, cross),
  ...(inner ? [rect(19.5, 0, 4, 40, inner), rect(0, 18, 60, 4, inner)] : []),
]

function star(x: number, y: number, r: number, fill: string): FlagShape {
  const points = Array.from({ length: 10 }, (_, index) => {
    const [angle, far] = [(index * Math.PI) / 5 - Math.PI / 2, index % 2 === 0 ? r : r * 0.4]
    return `${(x + far * Math.cos(angle)).toFixed(1)} ${(y + far * Math.sin(angle)).toFixed(1)}`
  })
  return path(`M${points.join('L')}Z`, fill)
}

const wedge = (fill: string, to = 28): FlagShape => path(`M0 0L${to} 20L0 40Z`, fill)
const crescent = (x: number, y: number, r: number, fill: string, ground: string): FlagShape[] => [
  disc(x, y, r, fill),
  disc(x + r * 0.3, y, r * 0.8, ground),
]

const unionJack = (width: number, height: number): FlagShape[] => [
  rect(0, 0, width, height, '#012169'),
  line(`M0 0L${width} ${height}M${width} 0L0 ${height}`, '#fff', height / 5),
  line(`M0 0L${width} ${height}M${width} 0L0 ${height}`, '#c8102e', height / 14),
  line(`M${width / 2} 0V${height}M0 ${height / 2}H${width}`, '#fff', height / 3.2),
  line(`M${width / 2} 0V${height}M0 ${height / 2}H${width}`, '#c8102e', height / 5.4),
]

const FLAGS: Record<string, FlagShape[]> = {
  AE: [...rows('#00732f', '#fff', '#000'), rect(0, 0, 15, 40, '#f00')],
  AR: [...rows('#74acdf', '#fff', '#74acdf'), disc(30, 20, 4.5, '#f6b40e')],
  AT: rows('#c8102e', '#fff', '#c8102e'),
  AU: [
    field('#012169'),
    ...unionJack(30, 20),
    star(15, 31, 6, '#fff'),
    star(45, 33, 3.5, '#fff'),
    star(45, 8, 3.5, '#fff'),
    star(37, 18, 3.5, '#fff'),
    star(53, 16, 3.5, '#fff'),
  ],
  BE: columns('#000', '#fdda24', '#ef3340'),
  BG: rows('#fff', '#00966e', '#d62612'),
  BR: [field('#009739'), path('M30 5L55 20L30 35L5 20Z', '#fedd00'), disc(30, 20, 8, '#012169')],
  CA: [
    field('#fff'),
    rect(0, 0, 15, 40, '#d52b1e'),
    rect(45, 0, 15, 40, '#d52b1e'),
    path('M30 8l2.5 5 3-1.5-1 7 4-2-.8 3 2.3 1-6 4.5.8 2.5-4-.7V33h-1.6v-6.2l-4 .7.8-2.5-6-4.5 2.3-1-.8-3 4 2-1-7 3 1.5Z', '#d52b1e'),
  ],
  CH: [field('#da291c'), rect(26, 8, 8, 24, '#fff'), rect(18, 16, 24, 8, '#fff')],
  CL: [...rows('#fff', '#d52b1e'), rect(0, 0, 20, 20, '#0039a6'), star(10, 10, 6, '#fff')],
  CN: [
    field('#ee1c25'),
    star(12, 12, 7, '#ff0'),
    star(23, 5, 2.5, '#ff0'),
    star(27, 10, 2.5, '#ff0'),
    star(27, 16, 2.5, '#ff0'),
    star(23, 21, 2.5, '#ff0'),
  ],
  CZ: [...rows('#fff', '#d7141a'), wedge('#11457e', 30)],
  DE: rows('#000', '#d00', '#ffce00'),
  DK: nordic('#c8102e', '#fff'),
  EE: rows('#0072ce', '#000', '#fff'),
  ES: rows('#aa151b', ['#f1bf00', 2], '#aa151b'),
  FI: nordic('#fff', '#003580'),
  FR: columns('#002654', '#fff', '#ce1126'),
  GB: unionJack(60, 40),
  GR: [
    ...rows('#0d5eaf', '#fff', '#0d5eaf', '#fff', '#0d5eaf', '#fff', '#0d5eaf', '#fff', '#0d5eaf'),
    rect(0, 0, 22.2, 22.2, '#0d5eaf'),
    rect(8.9, 0, 4.4, 22.2, '#fff'),
    rect(0, 8.9, 22.2, 4.4, '#fff'),
  ],
  HR: [...rows('#f00', '#fff', '#171796'), rect(25, 12, 10, 14, '#f00'), rect(25, 12, 5, 5, '#fff'), rect(30, 17, 5, 5, '#fff')],
  HU: rows('#ce2939', '#fff', '#477050'),
  ID: rows('#ce1126', '#fff'),
  IE: columns('#169b62', '#fff', '#ff883e'),
  IL: [
    field('#fff'),
    rect(0, 4, 60, 6, '#0038b8'),
    rect(0, 30, 60, 6, '#0038b8'),
    line('M30 12.5l6.5 11.2h-13ZM30 27.5l6.5-11.2h-13Z', '#0038b8', 1.6),
  ],
  IN: [...rows('#ff9933', '#fff', '#138808'), disc(30, 20, 5.5, '#000080'), disc(30, 20, 4.2, '#fff'), disc(30, 20, 1.4, '#000080')],
  IS: nordic('#02529c', '#fff', '#dc1e35'),
  IT: columns('#008c45', '#f4f5f0', '#cd212a'),
  JP: [field('#fff'), disc(30, 20, 12, '#bc002d')],
  KR: [
    field('#fff'),
    disc(30, 20, 10, '#cd2e3a'),
    path('M20 20a10 10 0 0 0 20 0a5 5 0 0 0-10 0a5 5 0 0 1-10 0Z', '#0047a0'),
    line('M9 10l6-5M11 12l6-5M45 33l6-5M47 35l6-5M45 5l6 5M43 7l6 5M9 30l6 5M11 28l6 5', '#000', 1.5),
  ],
  LT: rows('#fdb913', '#006a44', '#c1272d'),
  LU: rows('#ef3340', '#fff', '#00a3e0'),
  LV: rows(['#9e3039', 2], '#fff', ['#9e3039', 2]),
  MX: [...columns('#006341', '#fff', '#c8102e'), disc(30, 20, 4.5, '#8f6b3e')],
  MY: [
    ...rows('#cc0001', '#fff', '#cc0001', '#fff', '#cc0001', '#fff', '#cc0001', '#fff'),
    rect(0, 0, 32, 20, '#010066'),
    ...crescent(13, 10, 7, '#fc0', '#010066'),
    star(22, 10, 5, '#fc0'),
  ],
  NL: rows('#ae1c28', '#fff', '#21468b'),
  NO: nordic('#ba0c2f', '#fff', '#00205b'),
  NZ: [
    field('#012169'),
    ...unionJack(30, 20),
    star(45, 9, 3.5, '#c8102e'),
    star(52, 17, 3.5, '#c8102e'),
    star(38, 18, 3.5, '#c8102e'),
    star(45, 31, 4, '#c8102e'),
  ],
  PH: [...rows('#0038a8', '#ce1126'), wedge('#fff', 32), disc(10, 20, 4.5, '#fcd116')],
  PL: rows('#fff', '#dc143c'),
  PT: [field('#da291c'), rect(0, 0, 24, 40, '#046a38'), disc(24, 20, 8, '#ffe900'), disc(24, 20, 4.5, '#da291c')],
  RO: columns('#002b7f', '#fcd116', '#ce1126'),
  RS: rows('#c6363c', '#0c4076', '#fff'),
  SE: nordic('#006aa7', '#fecc02'),
  SG: [
    ...rows('#ee2536', '#fff'),
    ...crescent(13, 10, 7, '#fff', '#ee2536'),
    star(24, 5.5, 2, '#fff'),
    star(21, 10, 2, '#fff'),
    star(27, 10, 2, '#fff'),
    star(22, 15, 2, '#fff'),
    star(26, 15, 2, '#fff'),
  ],
  SI: rows('#fff', '#005da4', '#ed1c24'),
  SK: [
    ...rows('#fff', '#0b4ea2', '#ee1c25'),
    path('M10 10h14v10q0 8-7 11q-7-3-7-11Z', '#fff'),
    path('M11.5 11.5h11v8.5q0 7-5.5 9.3q-5.5-2.3-5.5-9.3Z', '#ee1c25'),
    line('M17 14v13M13.5 17.5h7M12.8 21.5h8.4', '#fff', 1.8),
  ],
  TH: rows('#a51931', '#f4f5f8', ['#2d2a4a', 2], '#f4f5f8', '#a51931'),
  TR: [field('#e30a17'), ...crescent(22, 20, 10, '#fff', '#e30a17'), star(37, 20, 5, '#fff')],
  TW: [field('#fe0000'), rect(0, 0, 30, 20, '#000095'), disc(15, 10, 6, '#fff')],
  UA: rows('#0057b7', '#ffd700'),
  US: [
    ...rows(...Array.from({ length: 13 }, (_, index) => (index % 2 === 0 ? '#b22234' : '#fff'))),
    rect(0, 0, 26, 21.5, '#3c3b6e'),
    ...[4, 10.8, 17.5].flatMap((y) => [4.5, 10.2, 15.9, 21.6].map((x) => disc(x, y, 1.3, '#fff'))),
  ],
  VN: [field('#da251d'), star(30, 20, 11, '#ff0')],
  ZA: [
    ...rows('#e03c31', '#001489'),
    path('M0 0H8L34 16H60V24H34L8 40H0Z', '#fff'),
    path('M0 5L26 20L0 35V29V11Z', '#ffb81c'),
    path('M0 0H3L32 17.5H60V22.5H32L3 40H0V32.5L18 20L0 7.5Z', '#007749'),
    path('M0 10.5L14 20L0 29.5Z', '#000'),
  ],
}

export const flagShapes = (country: string): FlagShape[] | undefined => (Object.hasOwn(FLAGS, country) ? FLAGS[country] : undefined)
