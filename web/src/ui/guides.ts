// Which guide explains which screen. The longest path that a screen begins with decides; `#tab` is a tab of it.
const GUIDES: Record<string, string> = {
  '/': 'guide/dashboard',
  '/vms': 'guide/tutorial',
  '/vms/new': 'guide/availability',
  '/vms/$#graphs': 'guide/metrics',
  '/vms/$#networking': 'guide/networking',
  '/vms/$#copies': 'guide/backups',
  '/vms/$#console': 'guide/consoles',
  '/vms/$#settings': 'guide/resize',
  '/volumes': 'guide/volumes',
  '/images': 'guide/images',
  '/ssh-keys': 'guide/tutorial',
  '/placement-groups': 'guide/placement-groups',
  '/networks': 'guide/networks',
  '/addresses': 'guide/addresses',
  '/firewalls': 'guide/firewalls',
  '/bandwidth': 'guide/billing',
  '/wallet': 'guide/billing',
  '/alerts': 'guide/alerts',
  '/webhooks': 'guide/webhooks',
  '/events': 'guide/events',
  '/tickets': 'guide/tickets',
  '/projects': 'guide/projects',
  '/members': 'guide/members',
  '/audit-log': 'guide/audit-log',
  '/settings': 'guide/tokens',
  '/settings#security': 'guide/sign-in',
  '/settings#sessions': 'guide/sign-in',
  '/settings#profile': 'guide/dashboard',
  '/settings#limits': 'guide/rate-limits',
  '/operator/hosts': 'operate/hosts',
  '/operator/capacity': 'operate/sizing',
  '/operator/regions': 'operate/install',
  '/operator/pools': 'operate/install',
  '/operator/templates': 'operate/templates',
  '/operator/plans': 'operate/plans',
  '/operator/accounts': 'operate/dashboard',
  '/operator/vms': 'operate/dashboard',
  '/operator/addresses': 'operate/dashboard',
  '/operator/announcements': 'operate/dashboard',
  '/operator/branding': 'operate/branding',
  '/operator/revenue': 'operate/payments',
  '/operator/actions': 'operate/runbooks',
  '/operator/orphaned-volumes': 'operate/runbooks',
  '/operator/tickets': 'guide/tickets',
  '/operator/health': 'operate/monitoring',
}

/** For the test that each of them exists. */
export const guidePages: readonly string[] = Object.values(GUIDES)

const ID = /^c[0-9a-z]{24}$/

/** The address of the guide to a screen; undefined where none explains it. */
export function guideOf(pathname: string, tab?: string): string | undefined {
  const parts = pathname.split('/').filter((part) => part !== '')
  const shape = `/${parts.map((part) => (ID.test(part) ? '$' : part)).join('/')}`
  const paths = parts.length === 0 ? ['/'] : [shape, ...parts.map((_, index) => `/${parts.slice(0, parts.length - index).join('/')}`)]
  const page = paths.map((path) => (tab && GUIDES[`${path}#${tab}`]) || GUIDES[path]).find((each) => each !== undefined)
  return page && `/docs/${page}`
}
