import { encode } from 'uqr'

/** The quiet zone that scanners need around the code. */
const BORDER = 4

/** Always black on white: not every scanner reads an inverted code, so the dark theme does not apply. */
export default function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: BORDER })
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg viewBox={`0 0 ${size} ${size}`} width={216} height={216} shapeRendering="crispEdges">
      <title>{label}</title>
      <rect width={size} height={size} rx={2} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
