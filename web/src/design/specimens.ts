// What the page of all parts shows. It is in no language but English, because only developers see it.
import type { Tone } from '../ui/Status.tsx'

export const TITLE = 'Design'
export const ABOUT = 'Every part of the dashboard. Sizes and colours are in src/design/tokens.css.'
export const THEMES = ['light', 'dark']
export const AREAS = ['customer', 'operator']
export const PARTS = {
  type: 'Type',
  colours: 'Colours',
  space: 'Space, radius, shadow and motion',
  buttons: 'Buttons',
  fields: 'Fields',
  statuses: 'Statuses, labels, steps and meters',
  tables: 'Tables',
  cards: 'Cards',
  alerts: 'Alerts',
  states: 'Loading, empty and failed',
  icons: 'Icons',
  dialogs: 'Dialogs',
}
export const PANGRAM = 'Boats berth quietly: Żółw, Ærø, Größe, 0123456789'
export const NUMBERS = '1,234.50 · 10.20.0.9'
export const MONO = 'ssh root@198.51.100.7'
export const TEXT_SIZES = ['2xs', 'xs', 'sm', 'md', 'lg', 'xl', '2xl', '3xl']
export const WEIGHTS = ['normal', 'medium', 'strong', 'title']
export const SPACES = ['0-5', '1', '1-5', '2', '2-5', '3', '4', '5', '6', '8', '12', '16']
export const RADII = ['xs', 'sm', 'md', 'lg', 'xl', 'full']
export const SHADOWS = ['sm', 'md', 'lg']
export const MOTIONS = ['-quick', '', '-slow']
export const PALETTES = ['brand', 'gray', 'dark', 'red']
export const COLOURS = [
  'page',
  'surface',
  'sunken',
  'line',
  'line-soft',
  'ink',
  'muted',
  'accent',
  'accent-text',
  'accent-soft',
  'buoy',
  'code',
  'good',
  'good-soft',
  'busy',
  'busy-soft',
  'bad',
  'bad-soft',
  'chart-1',
  'chart-2',
  'chart-3',
  'chart-4',
]
export const BUTTONS = {
  primary: 'Save changes',
  create: 'Create VM',
  secondary: 'Cancel',
  light: 'Show as code',
  quiet: 'Show all',
  danger: 'Delete VM',
  disabled: 'Not available',
  small: 'Edit',
  menu: 'web-1',
}
export const MENU = ['Rename', 'Change labels', 'Delete']
export const FIELDS = {
  name: 'Name',
  about: 'Up to 100 characters.',
  hint: 'web-1',
  wrong: 'not a name!',
  error: 'must consist of letters, digits and hyphens',
  choice: 'Region',
  choices: ['Frankfurt', 'Helsinki'],
  password: 'Password',
  text: 'Text',
  check: 'Daily backups',
  switch: 'Protected',
  radio: 'Debian 12',
  off: 'Not available',
}
export const STATUSES: Record<Tone, string> = { good: 'Running', busy: 'Starting', idle: 'Stopped', held: 'Suspended', bad: 'Failed' }
export const LABELS = { env: 'prod', team: 'shop', old: '' }
const AT = '2026-01-01T12:00:00Z'
const LATER = '2026-01-01T12:00:03Z'
export const STEPS: { name: string; status: 'COMPLETED' | 'FAILED' | 'PENDING'; startedAt: string | null; completedAt: string | null }[] = [
  { name: 'define', status: 'COMPLETED', startedAt: AT, completedAt: LATER },
  { name: 'start', status: 'FAILED', startedAt: AT, completedAt: LATER },
  { name: 'wait', status: 'PENDING', startedAt: null, completedAt: null },
]
export const METERS = [12, 64, 86, 100]
export const HEADS = { name: 'Name', status: 'Status', address: 'Address', price: 'Per month' }
export const ROWS: { name: string; tone: Tone; status: string; address: string; price: string }[] = [
  { name: 'web-1', tone: 'good', status: 'Running', address: '198.51.100.7', price: '$4.00' },
  { name: 'db-1', tone: 'busy', status: 'Starting', address: '198.51.100.8', price: '$16.00' },
  { name: 'a name that is so long that it ends in an ellipsis', tone: 'bad', status: 'Failed', address: '198.51.100.9', price: '$8.00' },
]
export const CARD = { title: 'Connect', about: 'With the key laptop', danger: 'Delete web-1' }
export const FACTS: [string, string][] = [
  ['Plan', 'Small'],
  ['Region', 'Frankfurt'],
  ['Memory', '2 GiB'],
]
export const ADDRESS = '198.51.100.7'
export const COMMAND = 'berth vm create --plan small --region fra1 --os debian-12 --name web-1'
export const ALERTS = [
  { colour: 'tide', text: 'Maintenance on Sunday from 2:00 to 4:00.' },
  { colour: 'orange', text: 'The balance does not cover the renewals of the next 7 days.' },
  { colour: 'red', text: 'VM db-1 could not be created.' },
  { colour: 'gray', text: 'The operator does not manage this VM.' },
]
export const EMPTY = { title: 'No VMs yet', about: 'A VM runs in seconds: choose a region, a system and a size.' }
export const ICONS = [
  'home',
  'server',
  'disk',
  'key',
  'network',
  'shield',
  'gauge',
  'wallet',
  'webhook',
  'pulse',
  'buoy',
  'bell',
  'search',
  'settings',
  'users',
  'box',
  'pin',
  'globe',
  'lock',
  'chart',
  'code',
  'book',
  'heart',
  'warning',
  'check',
  'cross',
  'trash',
  'play',
  'stop',
  'restart',
  'terminal',
]
export const DIALOGS = ['Dialog with a form', 'Confirmation', 'Secret']
