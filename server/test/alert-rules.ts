// The alert rules as Prometheus evaluates them: what /metrics says before and after something has happened becomes their input.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseDurationMs } from '../src/kernel/clock.ts'
import { serveMetrics, type Metrics } from '../src/kernel/metrics.ts'

const RULES = join(import.meta.dirname, '../../docs/operate/files/alerts.yaml')
const DASHBOARD = join(import.meta.dirname, '../../docs/operate/files/grafana.json')

/** By the name of the alert. */
const rules = new Map(
  readFileSync(RULES, 'utf8')
    .split(/\n +- alert: /)
    .slice(1)
    .map((text) => [/^\w+/.exec(text)![0], text]),
)

export const alertNames = [...rules.keys()]

/** Samples by their series, as Prometheus stores them. */
export type Scrape = Map<string, number>

export interface Scraped {
  read(): Promise<Scrape>
  /** As if the process had ended. */
  end(): Promise<void>
}

export async function scraping(metrics: Metrics): Promise<Scraped> {
  const server = await serveMetrics(metrics, '127.0.0.1', 0)
  const target = `job="berth",instance="127.0.0.1:${server.port}"`
  const sampleOf = (line: string): [string, number] => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)!
    return [`${name}{${[target, labels].filter(Boolean).join(',')}}`, Number(value)]
  }
  const read = async (): Promise<Scrape> => {
    const response = await fetch(`http://127.0.0.1:${server.port}/metrics`).catch(() => null)
    if (!response) return new Map([[`up{${target}}`, 0]])
    const lines = (await response.text()).split('\n').filter((line) => /^(berth|process)_/.test(line))
    return new Map([[`up{${target}}`, 1], ...lines.map(sampleOf)])
  }
  return { read, end: () => server.close() }
}

interface Course {
  before: Scrape
  after: Scrape
  /** What happened goes on to happen every minute, rather than once. */
  again: boolean
}

const CALM_MINUTES = 5
/** Rates need some minutes. */
const RATE_MINUTES = 31

/** Empty when the alert fires with these labels in the end and did not in the calm before; else what differs. */
export async function differences(alert: string, labels: Record<string, string>, { again, ...course }: Course): Promise<string> {
  const rule = rules.get(alert)!
  const [before, after] = [course.before, course.after].map(
    (all) => new Map([...all].filter(([series]) => rule.includes(series.split('{')[0]!))),
  )
  const heldMinutes = parseDurationMs(/ for: (\w+)/.exec(rule)![1]!) / 60_000
  const minutes = CALM_MINUTES + heldMinutes + (again ? RATE_MINUTES : 2)
  const selector = Object.entries({ alertname: alert, alertstate: 'firing', ...labels }).map(([name, value]) => `${name}="${value}"`)
  const expr = `count(ALERTS{${selector.join(',')}}) > bool 0`
  return promtool(seriesOf({ before: before!, after: after!, again }, minutes), [
    { expr, eval_time: `${CALM_MINUTES - 1}m`, exp_samples: [] },
    { expr, eval_time: `${minutes}m`, exp_samples: [{ labels: '{}', value: 1 }] },
  ])
}

/** Those of the dashboard that show nothing of these samples. */
export async function emptyPanels(samples: Scrape): Promise<string[]> {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: { title: string; targets?: { expr: string }[] }[] }
  const asked = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr: `count(${expr}) > bool 0` })))
  const series = seriesOf({ before: new Map(), after: samples, again: true }, RATE_MINUTES)
  const shows = ({ expr }: { expr: string }) => ({ expr, eval_time: `${RATE_MINUTES}m`, exp_samples: [{ labels: '{}', value: 1 }] })
  const complaint = await promtool(series, asked.map(shows))
  const empty = asked.filter(({ expr }) => complaint.includes(JSON.stringify(expr))).map(({ title }) => title)
  return complaint && empty.length === 0 ? [complaint] : empty
}

function seriesOf({ before, after, again }: Course, minutes: number): { series: string; values: string }[] {
  return [...new Set([...before.keys(), ...after.keys()])].map((series) => {
    const [first, then] = [before.get(series), after.get(series)]
    const calm = first === undefined ? `_x${CALM_MINUTES}` : `${first}+0x${CALM_MINUTES - 1}`
    const growth = again && /_(bucket|count|sum|total)\{/.test(series) ? (then ?? 0) - (first ?? 0) : 0
    return { series, values: `${calm} ${then === undefined ? `_x${minutes}` : `${then}${growth < 0 ? '' : '+'}${growth}x${minutes}`}` }
  })
}

/** Empty when all is as expected. */
async function promtool(input_series: object[], promql_expr_test: object[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-alerts-'))
  const file = join(folder, 'test.yaml')
  const tests = [{ interval: '1m', input_series, promql_expr_test }]
  writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  const run = promisify(execFile)('promtool', ['test', 'rules', file])
  const complaint = await run.then(
    () => '',
    ({ stdout, stderr, message }: { stdout?: string; stderr?: string; message: string }) => `${stdout ?? ''}${stderr ?? ''}` || message,
  )
  rmSync(folder, { recursive: true })
  return complaint
}
