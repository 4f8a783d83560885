// Nodes of the map. Every one is a link; text that is too long ends in an ellipsis, because SVG has no such thing of its own.
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes } from 'react'
import { toneOf } from '../../../ui/Status.tsx'
import { networkMessages, vmsMessages } from '../../../words/words.ts'
import { LOOSE, type Box, type MapVm, type Rect, type Tile } from './layout.ts'
import css from './map.module.css'

const w = networkMessages.map

const MapLink = createLink(({ children, ...props }: AnchorHTMLAttributes<HTMLAnchorElement>) => <a {...props}>{children}</a>)

/** `width` in characters. */
const short = (text: string, width: number): string => {
  const characters = Array.from(text)
  return characters.length > width ? `${characters.slice(0, width - 1).join('')}…` : text
}

const SHIELD = 'M8 0 15 2.300v6c0 4-2.700 6.700-7 8-4.300-1.300-7-4-7-8v-6Z'
const GLOBE =
  'M10 1a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM1 10h18M10 1c2.500 2.500 3.800 5.600 3.800 9s-1.300 6.500-3.800 9c-2.500-2.500-3.800-5.600-3.800-9s1.300-6.500 3.800-9Z'

export const InternetNode = ({ rect: { x, y, width, height }, unassigned }: { rect: Rect; unassigned: string[] }) => (
  <MapLink to="/addresses" className={css['internet']}>
    <rect x={x} y={y} width={width} height={height} rx={height / 2} />
    <path d={GLOBE} transform={`translate(${x + 22} ${y + 16})`} />
    <text x={x + 54} y={y + (unassigned.length > 0 ? 23 : 31)} className={css['name']}>
      {w.internet}
    </text>
    {unassigned.length > 0 && (
      <text x={x + 54} y={y + 40} className={css['small']}>
        {w.unassigned(unassigned.length)}
      </text>
    )}
  </MapLink>
)

export function BoxNode({ box, onToggle }: { box: Box; onToggle: () => void }) {
  const { x, y, width, height, network, tiles, count, running, isCollapsed } = box
  const name = network?.name ?? w.loose
  const facts = network ? [network.cidr, network.gateway !== null && w.gateway(network.gateway)].filter(Boolean).join(' · ') : w.looseAbout
  const room = Math.floor((width - 130) / 8)
  const head = (
    <>
      <rect className={css['head']} x={x} y={y} width={width - 96} height={60} rx={12}>
        <title>{name}</title>
      </rect>
      <text x={x + 16} y={y + 26} className={css['name']}>
        {short(name, room)}
      </text>
      <text x={x + 16} y={y + 46} className={css['small']}>
        {short(facts, Math.floor((width - 40) / 6.6))}
      </text>
    </>
  )
  return (
    <g className={css['box']} data-loose={box.id === LOOSE}>
      <rect className={css['frameRect']} x={x} y={y} width={width} height={height} rx={14} />
      {network ? (
        <MapLink to="/networks/$networkId" params={{ networkId: network.id }}>
          {head}
        </MapLink>
      ) : (
        <MapLink to="/vms">{head}</MapLink>
      )}
      {count > 0 && (
        <foreignObject x={x + width - 96} y={y + 10} width={88} height={36}>
          <button
            type="button"
            className={css['toggle']}
            aria-expanded={!isCollapsed}
            aria-label={`${w.vms(count)}: ${isCollapsed ? w.expand(name) : w.collapse(name)}`}
            onClick={onToggle}
          >
            {w.vms(count)}
            <svg width="10" height="6" aria-hidden>
              <path d={isCollapsed ? 'M1 1 5 5 9 1' : 'M1 5 5 1 9 5'} />
            </svg>
          </button>
        </foreignObject>
      )}
      {tiles.length === 0 && (
        <text x={x + 16} y={y + 84} className={css['small']}>
          {count === 0 ? w.noVms : isCollapsed ? w.running(running, count) : w.shownElsewhere}
        </text>
      )}
      {tiles.map((tile) => (
        <TileNode key={tile.vm.id} tile={tile} />
      ))}
    </g>
  )
}

/** In words. */
export const statusOf = ({ status }: MapVm): string => (status === 'SHELVED' ? vmsMessages.shelved : vmsMessages.statuses[status])

function TileNode({ tile }: { tile: Tile }) {
  const { x, y, width, height, vm, ipAddress, firewalls } = tile
  const addresses = [ipAddress, vm.publicAddress, ...vm.floating].filter((each) => each !== null)
  return (
    <g className={css['tile']}>
      <MapLink to="/vms/$vmId" params={{ vmId: vm.id }} search={{ tab: 'networking' }}>
        <rect className={css['tileRect']} x={x} y={y} width={width} height={height} rx={9}>
          <title>{vm.name}</title>
        </rect>
        <circle cx={x + 16} cy={y + 19} r={4.5} data-tone={toneOf(vm.status)}>
          <title>{statusOf(vm)}</title>
        </circle>
        <text x={x + 28} y={y + 23.5} className={css['vm']}>
          {short(vm.name, 15)}
        </text>
        {addresses.slice(0, 2).map((address, index) => (
          <text key={address} x={x + 14} y={y + 43 + index * 18} className={css['address']}>
            {short(address, 20)}
            {index === 1 && addresses.length > 2 && ` +${addresses.length - 2}`}
          </text>
        ))}
      </MapLink>
      {firewalls.slice(0, 2).map((firewall, index) => (
        <MapLink
          key={firewall.id}
          to="/firewalls/$firewallId"
          params={{ firewallId: firewall.id }}
          className={css['shield']}
          aria-label={w.firewallOf(firewall.name, vm.name)}
        >
          <title>{firewall.name}</title>
          <rect x={x + width - 26 - index * 22} y={y - 9} width={20} height={20} rx={6} />
          <path d={SHIELD} transform={`translate(${x + width - 22.5 - index * 22} ${y - 6.5}) scale(0.8)`} />
        </MapLink>
      ))}
    </g>
  )
}
