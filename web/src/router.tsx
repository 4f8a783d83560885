// All routes. The code of a screen is loaded on first navigation, or when a link to the screen is hovered.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { queryClient } from './api/client.ts'
import './api/identities.ts' // reads the address before the router does
import { sessionQuery } from './api/session.ts'
import { ErrorPage } from './shell/ErrorPage.tsx'
import { nextPath } from './shell/next-path.ts'
import { RequireSession, RequireSessionBare } from './shell/RequireSession.tsx'
import { Loading } from './ui/AsyncState.tsx'
import { readSearch } from './ui/paging.ts'

type Load = () => Promise<{ default: ComponentType }>

const root = createRootRoute({ component: Outlet })
const gate = createRoute({
  getParentRoute: () => root,
  id: 'gate',
  component: RequireSession,
  // Beside the code of the screen, not after it.
  loader: () => void queryClient.prefetchQuery(sessionQuery),
})

const bareGate = createRoute({ getParentRoute: () => root, id: 'bare-gate', component: RequireSessionBare })

/** Without the shell. */
const bare = <const Path extends string>(path: Path, load: Load) =>
  createRoute({ getParentRoute: () => bareGate, path, component: lazyRouteComponent(load), validateSearch: readSearch })

const screen = <const Path extends string>(path: Path, load: Load) =>
  createRoute({ getParentRoute: () => gate, path, component: lazyRouteComponent(load), validateSearch: readSearch })

const readNext = (search: Record<string, unknown>): { next?: string; ended?: true } => {
  const next = nextPath(search['next'], location.origin)
  return { ...(next !== undefined && { next }), ...(search['ended'] === true && { ended: true }) }
}

const outside = <const Path extends string>(path: Path, load: Load) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load), validateSearch: readNext })

const tree = root.addChildren([
  outside('/sign-in', () => import('./screens/sign-in/SignIn.tsx')),
  outside('/sign-in/with/$provider', () => import('./screens/sign-in/ProviderReturn.tsx')),
  outside('/sign-up', () => import('./screens/sign-in/SignUp.tsx')),
  outside('/confirm', () => import('./screens/sign-in/ConfirmSignUp.tsx')),
  outside('/join', () => import('./screens/sign-in/Join.tsx')),
  outside('/welcome', () => import('./screens/sign-in/Welcome.tsx')),
  outside('/forgot-password', () => import('./screens/sign-in/ForgotPassword.tsx')),
  outside('/reset', () => import('./screens/sign-in/ResetPassword.tsx')),
  ...(import.meta.env.DEV ? [outside('/design', () => import('./design/Gallery.tsx'))] : []),
  bareGate.addChildren([bare('/vms/$vmId/console', () => import('./screens/vm/ConsoleWindow.tsx'))]),
  gate.addChildren([
    screen('/', () => import('./screens/home/Home.tsx')),
    screen('/vms', () => import('./screens/vms/VmList.tsx')),
    screen('/vms/new', () => import('./screens/create-vm/CreateVm.tsx')),
    screen('/vms/$vmId', () => import('./screens/vm/VmPage.tsx')),
    screen('/placement-groups', () => import('./screens/placement-groups/PlacementGroups.tsx')),
    screen('/ssh-keys', () => import('./screens/ssh-keys/SshKeys.tsx')),
    screen('/networks', () => import('./screens/networks/Networks.tsx')),
    screen('/networks/map', () => import('./screens/networks/map/NetworkMap.tsx')),
    screen('/networks/$networkId', () => import('./screens/networks/NetworkPage.tsx')),
    screen('/volumes', () => import('./screens/volumes/Volumes.tsx')),
    screen('/images', () => import('./screens/images/Images.tsx')),
    screen('/addresses', () => import('./screens/addresses/Addresses.tsx')),
    screen('/firewalls', () => import('./screens/firewalls/FirewallList.tsx')),
    screen('/firewalls/$firewallId', () => import('./screens/firewalls/FirewallPage.tsx')),
    screen('/bandwidth', () => import('./screens/bandwidth/Bandwidth.tsx')),
    screen('/wallet', () => import('./screens/wallet/WalletPage.tsx')),
    screen('/wallet/transactions/$transactionId', () => import('./screens/wallet/TransactionPage.tsx')),
    screen('/wallet/invoices/$invoiceId', () => import('./screens/wallet/InvoicePage.tsx')),
    screen('/webhooks', () => import('./screens/webhooks/WebhookList.tsx')),
    screen('/webhooks/$webhookId', () => import('./screens/webhooks/WebhookPage.tsx')),
    screen('/projects', () => import('./screens/projects/Projects.tsx')),
    screen('/alerts', () => import('./screens/alerts/Alerts.tsx')),
    screen('/events', () => import('./screens/events/Events.tsx')),
    screen('/tickets', () => import('./screens/tickets/TicketList.tsx')),
    screen('/tickets/$ticketId', () => import('./screens/tickets/TicketPage.tsx')),
    screen('/audit-log', () => import('./screens/audit-log/AuditLog.tsx')),
    screen('/members', () => import('./screens/members/Members.tsx')),
    screen('/settings', () => import('./screens/settings/Settings.tsx')),
    screen('/operator/hosts', () => import('./screens/operator/Hosts.tsx')),
    screen('/operator/hosts/$hostId', () => import('./screens/operator/HostPage.tsx')),
    screen('/operator/announcements', () => import('./screens/operator/Announcements.tsx')),
    screen('/operator/branding', () => import('./screens/operator/branding/Branding.tsx')),
    screen('/operator/revenue', () => import('./screens/operator/Revenue.tsx')),
    screen('/operator/capacity', () => import('./screens/operator/Capacity.tsx')),
    screen('/operator/pools', () => import('./screens/operator/Pools.tsx')),
    screen('/operator/templates', () => import('./screens/operator/Templates.tsx')),
    screen('/operator/regions', () => import('./screens/operator/Regions.tsx')),
    screen('/operator/plans', () => import('./screens/operator/Plans.tsx')),
    screen('/operator/vms', () => import('./screens/operator/AllVms.tsx')),
    screen('/operator/addresses', () => import('./screens/operator/AddressHistory.tsx')),
    screen('/operator/accounts', () => import('./screens/operator/Accounts.tsx')),
    screen('/operator/accounts/$accountId', () => import('./screens/operator/AccountPage.tsx')),
    screen('/operator/actions', () => import('./screens/operator/Actions.tsx')),
    screen('/operator/actions/$actionId', () => import('./screens/operator/ActionPage.tsx')),
    screen('/operator/orphaned-volumes', () => import('./screens/operator/OrphanedVolumes.tsx')),
    screen('/operator/tickets', () => import('./screens/operator/StaffTickets.tsx')),
    screen('/operator/tickets/$ticketId', () => import('./screens/operator/StaffTicket.tsx')),
    screen('/operator/health', () => import('./screens/operator/Health.tsx')),
    screen('/$', () => import('./shell/NotFound.tsx')),
  ]),
])

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  defaultErrorComponent: ErrorPage,
  defaultPendingComponent: Loading,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
