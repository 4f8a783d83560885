// A machine with nothing but a disk, for work that only QEMU can do on it. It is started paused and never let go.
import { element, type Xml } from './xml.ts'

export const pausedDomainXml = (name: string, type: Record<string, string>, disk: Xml): Xml =>
  element(
    'domain',
    { type: 'qemu' },
    element('name', {}, name),
    element('memory', { unit: 'MiB' }, 64),
    element('vcpu', {}, 1),
    element('os', {}, element('type', type, 'hvm')),
    element('devices', {}, disk, element('controller', { type: 'usb', model: 'none' }), element('memballoon', { model: 'none' })),
  )
