import { NativeSelect, NumberInput } from '@mantine/core'
import type { CheckPacket } from '@berth/sdk'
import { useState } from 'react'
import { fieldError } from '../api/errors.ts'
import { commonMessages as w } from '../words/words.ts'

type Protocol = CheckPacket['protocol']
const PROTOCOLS: Protocol[] = ['TCP', 'UDP', 'ICMP', 'ICMPV6']

/** Protocol and destination port of a packet to ask about, which of them is its `packet`. */
export function usePacketFields() {
  const [protocol, setProtocol] = useState<Protocol>('TCP')
  const [port, setPort] = useState<number | ''>(22)
  const hasPort = protocol === 'TCP' || protocol === 'UDP'
  return { packet: { protocol, port: hasPort && port !== '' ? port : null }, hasPort, port, setProtocol, setPort }
}

export const PacketFields = ({ of, error }: { of: ReturnType<typeof usePacketFields>; error: unknown }) => (
  <>
    <NativeSelect
      label={w.protocol}
      value={of.packet.protocol}
      onChange={(event) => of.setProtocol(event.currentTarget.value as Protocol)}
      data={PROTOCOLS}
    />
    {of.hasPort && (
      <NumberInput
        label={w.port}
        value={of.port}
        min={1}
        max={65_535}
        hideControls
        onChange={(value) => of.setPort(value === '' ? '' : Number(value))}
        error={fieldError(error, 'port')}
      />
    )}
  </>
)
