import { ActionIcon } from '@mantine/core'
import type { Reach } from '@berth/sdk'
import { useMemo, useState } from 'react'
import { Icon, type IconName } from '../../../ui/Icon.tsx'
import { networkMessages } from '../../../words/words.ts'
import { collapsedAtFirst, layOut, type Link, type Point, type Topology } from './layout.ts'
import css from './map.module.css'
import { BoxNode, InternetNode } from './MapNodes.tsx'
import { pathOf } from './path.ts'
import { usePanZoom } from './usePanZoom.ts'

const w = networkMessages.map

export function MapCanvas({ topology, reach }: { topology: Topology; reach: Reach | null }) {
  const [collapsed, setCollapsed] = useState(() => collapsedAtFirst(topology))
  const layout = useMemo(() => layOut(topology, collapsed), [topology, collapsed])
  const { frame, view, fit, zoomBy, handlers, onKeyDown } = usePanZoom(layout)
  const toggle = (id: string): void =>
    setCollapsed((now) => (now.has(id) ? new Set([...now].filter((each) => each !== id)) : new Set([...now, id])))
  const path = reach ? pathOf(layout, reach) : undefined
  return (
    <section className={css['card']} aria-label={w.title}>
      <div ref={frame} className={css['frame']} {...handlers}>
        <button type="button" className={css['keys']} aria-label={w.keys} onKeyDown={onKeyDown} />
        <svg className={css['svg']}>
          <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
            {layout.links.map((link) => (
              <LinkLine key={link.id} link={link} />
            ))}
            <InternetNode rect={layout.internet} unassigned={topology.unassigned} />
            {layout.boxes.map((box) => (
              <BoxNode key={box.id} box={box} onToggle={() => toggle(box.id)} />
            ))}
            {path && (
              <g className={css['path']} data-verdict={path.verdict} aria-hidden>
                <polyline points={textOf(path.points)} />
                {path.stop ? (
                  <g transform={`translate(${path.stop.x} ${path.stop.y})`}>
                    <circle r={13} />
                    <path d="M-5 -5 5 5M5 -5 -5 5" />
                  </g>
                ) : (
                  <circle cx={path.points.at(-1)!.x} cy={path.points.at(-1)!.y} r={7} />
                )}
              </g>
            )}
          </g>
        </svg>
      </div>
      <div className={css['tools']}>
        <Tool icon="plus" label={w.zoomIn} onClick={() => zoomBy(1.25)} />
        <Tool icon="minus" label={w.zoomOut} onClick={() => zoomBy(0.8)} />
        <Tool icon="expand" label={w.fit} onClick={fit} />
      </div>
      <ul className={css['legend']}>
        {(['uplink', 'peering', 'membership', 'route'] as const).map((kind) => (
          <li key={kind}>
            <svg width="26" height="8" aria-hidden>
              <line x1="0" y1="4" x2="26" y2="4" className={css['line']} data-kind={kind} />
            </svg>
            {w.legend[kind]}
          </li>
        ))}
        <li>
          <Icon name="shield" size={14} /> {w.legend.firewall}
        </li>
      </ul>
    </section>
  )
}

const textOf = (points: Point[]): string => points.map(({ x, y }) => `${x},${y}`).join(' ')

function LinkLine({ link: { kind, points, label } }: { link: Link }) {
  const [a, b] = [points[Math.floor((points.length - 1) / 2)]!, points[Math.ceil((points.length - 1) / 2)]!]
  const at = kind === 'uplink' ? { x: points.at(-1)!.x + 8, y: points.at(-1)!.y - 8 } : { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 - 6 }
  return (
    <>
      <polyline className={css['line']} data-kind={kind} points={textOf(points)} />
      {label && (
        <text className={css['lineLabel']} x={at.x} y={at.y} textAnchor={kind === 'uplink' ? 'start' : 'middle'}>
          {label}
        </text>
      )}
    </>
  )
}

const Tool = ({ icon, label, onClick }: { icon: IconName; label: string; onClick: () => void }) => (
  <ActionIcon variant="default" size={32} aria-label={label} title={label} onClick={onClick}>
    <Icon name={icon} size={16} />
  </ActionIcon>
)
