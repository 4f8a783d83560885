// Virtual networks and the filters on their ports.
import { defaulted, hyper, int, optional, str, struct, uint } from '../xdr/types.ts'
import * as flag from './flags.ts'
import { quick, slow } from './procedure.ts'
import { filterBinding, flags, flagsOf, listOf, named, networkPort, uuid } from './structs.ts'

const needResults = defaulted(int, 1)
const network = named
const filter = named
const binding = filterBinding
const update = { network, command: uint, section: uint, parentIndex: defaulted(int, -1), xml: str, flags: flagsOf(flag.ModifyFlag) }
const lease = struct({
  interface: str,
  expiresAtSeconds: hyper,
  type: int,
  mac: optional(str),
  iaid: optional(str),
  address: str,
  prefix: uint,
  hostname: optional(str),
  clientId: optional(str),
})

export const networks = {
  listAll: quick(283, 'CONNECT_LIST_ALL_NETWORKS', { needResults, flags: flagsOf(flag.ListFlag) }, listOf(network)),
  lookupByName: quick(46, 'NETWORK_LOOKUP_BY_NAME', { name: str }, network),
  lookupByUuid: quick(47, 'NETWORK_LOOKUP_BY_UUID', { uuid }, network),
  define: quick(432, 'NETWORK_DEFINE_XML_FLAGS', { xml: str, flags: flagsOf(flag.DefineFlag) }, network),
  create: slow(39, 'NETWORK_CREATE', { network }),
  destroy: slow(42, 'NETWORK_DESTROY', { network }),
  undefine: slow(49, 'NETWORK_UNDEFINE', { network }),
  update: slow(291, 'NETWORK_UPDATE', update),
  getXml: quick(43, 'NETWORK_GET_XML_DESC', { network, flags: flagsOf(flag.NetworkXmlFlag) }, str),
  getBridgeName: quick(45, 'NETWORK_GET_BRIDGE_NAME', { network }, str),
  setAutostart: quick(48, 'NETWORK_SET_AUTOSTART', { network, autostart: int }),
  isActive: quick(152, 'NETWORK_IS_ACTIVE', { network }, int),
  getDhcpLeases: quick(341, 'NETWORK_GET_DHCP_LEASES', { network, mac: optional(str), needResults, flags }, listOf(lease)),
  listAllPorts: quick(404, 'NETWORK_LIST_ALL_PORTS', { network, needResults, flags }, listOf(networkPort)),
} as const

/** Defining a filter rebuilds the firewall of every port that uses it: seconds each. */
export const filters = {
  listAll: quick(286, 'CONNECT_LIST_ALL_NWFILTERS', { needResults, flags }, listOf(filter)),
  lookupByName: quick(175, 'NWFILTER_LOOKUP_BY_NAME', { name: str }, filter),
  define: slow(180, 'NWFILTER_DEFINE_XML', { xml: str }, filter),
  defineFlags: slow(431, 'NWFILTER_DEFINE_XML_FLAGS', { xml: str, flags: flagsOf(flag.DefineFlag) }, filter),
  undefine: slow(181, 'NWFILTER_UNDEFINE', { filter }),
  getXml: quick(177, 'NWFILTER_GET_XML_DESC', { filter, flags }, str),
  listAllBindings: quick(401, 'CONNECT_LIST_ALL_NWFILTER_BINDINGS', { needResults, flags }, listOf(binding)),
  lookupBinding: quick(397, 'NWFILTER_BINDING_LOOKUP_BY_PORT_DEV', { portDevice: str }, binding),
  createBinding: slow(399, 'NWFILTER_BINDING_CREATE_XML', { xml: str, flags: flagsOf(flag.DefineFlag) }, binding),
  deleteBinding: slow(400, 'NWFILTER_BINDING_DELETE', { binding }),
  getBindingXml: quick(398, 'NWFILTER_BINDING_GET_XML_DESC', { binding, flags }, str),
} as const
