import { encodeQr, type Points } from './encode.ts'

/** Light around it, as readers need it. */
const BORDER = 4

/** Dark on light whatever the page's colours are: not every reader knows the other way round. Nothing for a text that is too long. */
export default function QrCode({ text, label }: { text: string; label: string }) {
  const points = encodeQr(text)
  if (!points) return null
  const size = points.length + 2 * BORDER
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} width={216} height={216} shapeRendering="crispEdges">
      <rect width={size} height={size} rx={2} fill="#fff" />
      <path d={pathOf(points)} fill="#000" />
    </svg>
  )
}

const pathOf = (points: Points): string =>
  points.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x + BORDER} ${y + BORDER}h1v1h-1z`] : []))).join('')
