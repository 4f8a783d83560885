import { osShape } from './os-shapes.ts'

/** Decoration: the name of the system is always beside it. */
export function OsMark({ distribution, size = 28 }: { distribution: string; size?: number }) {
  const { colour, lines, areas } = osShape(distribution)
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" style={{ flexShrink: 0 }}>
      <rect width="24" height="24" rx="6" fill={colour} />
      {areas && <path d={areas} fill="#fff" />}
      <path d={lines} fill="none" stroke="#fff" strokeWidth="1.7" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  )
}
