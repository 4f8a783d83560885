// The promises that every network controller keeps, kept by OVN.
import { pino } from 'pino'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { missingForOvn, OvnRegion } from '../../../test/ovn-hosts.ts'
import { describeNetworkController } from '../network-conformance.ts'
import { networkController } from './controller.ts'
import { openNetworkDatabase } from './northbound.ts'

describeIf(missingForOvn())('on real OVN', () => {
  describeNetworkController(
    'OVN',
    async () => {
      const region = await OvnRegion.open(2)
      const open = () => networkController(openNetworkDatabase({ ...region.endpoints, log: pino({ level: 'silent' }) }))
      const [controller, other] = [open(), open()]
      const [one, two] = region.chassis
      const close = async (): Promise<void> => {
        await Promise.all([controller.close(), other.close()])
        await region.close()
      }
      return { controller, other, hosts: [one!.name, two!.name], close }
    },
    60_000,
  )
})
