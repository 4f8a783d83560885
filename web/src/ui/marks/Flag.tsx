import { useId } from 'react'
import { flagShapes, type FlagShape } from './flag-shapes.ts'

/** Of a country by its ISO 3166 alpha-2 code. Decoration: the name of the place is always beside it. */
export function Flag({ country, width = 24 }: { country: string; width?: number }) {
  const clip = useId()
  const code = country.toUpperCase()
  const shapes = flagShapes(code)
  return (
    <svg width={width} height={(width * 2) / 3} viewBox="0 0 60 40" aria-hidden="true" style={{ flexShrink: 0 }}>
      <clipPath id={clip}>
        <rect width="60" height="40" rx="5" />
      </clipPath>
      <g clipPath={`url(#${clip})`}>
        {shapes ? shapes.map((shape) => <Shape key={JSON.stringify(shape)} {...shape} />) : <Unknown code={code} />}
      </g>
      <rect x="0.75" y="0.75" width="58.5" height="38.5" rx="4.25" fill="none" stroke="var(--ink)" strokeOpacity="0.16" strokeWidth="1.5" />
    </svg>
  )
}

function Shape(shape: FlagShape) {
  switch (shape.kind) {
    case 'rect':
      return <rect x={shape.x} y={shape.y} width={shape.width} height={shape.height} fill={shape.fill} />
    case 'disc':
      return <circle cx={shape.x} cy={shape.y} r={shape.r} fill={shape.fill} />
    case 'path':
      return <path d={shape.d} fill={shape.fill} />
    case 'line':
      return <path d={shape.d} fill="none" stroke={shape.stroke} strokeWidth={shape.width} />
  }
}

/** Its letters on a plain ground. */
const Unknown = ({ code }: { code: string }) => (
  <>
    <rect width="60" height="40" fill="var(--sunken)" />
    <text x="30" y="27" textAnchor="middle" fontSize="20" fontWeight="600" fill="var(--muted)">
      {code.slice(0, 2)}
    </text>
  </>
)
