// What a migration does that the version before cannot run with, found in its text. New tables and columns are nothing to that version.

/** Words of an expression that are no columns. */
const KEYWORDS = new Set(
  'and or not is null between in like any all array true false case when then else end distinct from current_date interval text int integer bigint numeric boolean timestamptz date inet cidr'.split(
    ' ',
  ),
)

const nameOf = (name: string): string => name.replaceAll('"', '').replace(/^public\./, '')

/** At commas outside of parentheses. */
function splitClauses(list: string): string[] {
  const clauses = ['']
  let depth = 0
  for (const character of list) {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0
    if (character === ',' && depth === 0) clauses.push('')
    else clauses[clauses.length - 1] += character
  }
  return clauses.map((clause) => clause.trim())
}

const ALTER_TABLE = /^alter table (?:if exists )?(?:only )?(\S+) (.*)$/
const ADD_COLUMN = /^add (?:column )?(?:if not exists )?(?!constraint\b|check\b|unique\b|primary\b|foreign\b|exclude\b)(\S+) (.*)$/
const ADD_CONSTRAINT = /^add (?:constraint (\S+) )?(check|unique|primary key|foreign key|exclude)\b(.*)$/
const DROP =
  /^drop (table|view|materialized view|function|procedure|trigger|type|domain|schema|sequence|extension) (?:if exists )?([^\s(;]+)/

const FORBIDDEN: [RegExp, string][] = [
  [/^drop (?!constraint\b)/, 'drops a column'],
  [/^rename\b/, 'renames'],
  [/^alter (?:column )?\S+ (?:set data )?type\b/, 'changes a type'],
  [/^alter (?:column )?\S+ set not null\b/, 'requires a value'],
  [/^alter (?:column )?\S+ drop default\b/, 'drops a default'],
]

/** In words, with the clause; empty for an expand. */
export function breakingChanges(text: string): string[] {
  const plain = text.replace(/--.*$/gm, '').replace(/\/\*[^]*?\*\//g, '')
  const statements = plain.split(';').map((statement) => statement.replace(/\s+/g, ' ').trim().toLowerCase())
  const created = new Set(
    statements.flatMap((each) => /^create (?:unlogged )?table (?:if not exists )?([^\s(]+)/.exec(each)?.[1] ?? []).map(nameOf),
  )
  const altered = statements.flatMap((statement) => {
    const [, table, clauses] = ALTER_TABLE.exec(statement) ?? []
    return table && !created.has(nameOf(table)) ? splitClauses(clauses!).map((clause) => ({ table, clause })) : []
  })
  const added = new Set(altered.flatMap(({ clause }) => ADD_COLUMN.exec(clause)?.[1] ?? []))
  const replaced = new Set(altered.flatMap(({ clause }) => /^drop constraint (?:if exists )?(\S+)/.exec(clause)?.[1] ?? []))
  /** Whether it is about new columns alone: rows of the version before have their defaults there. */
  const isOfNewColumns = (expression: string): boolean =>
    [...expression.replace(/'[^']*'/g, '').matchAll(/\b[a-z_]\w*\b(?!\s*\()/g)].every(([word]) => KEYWORDS.has(word) || added.has(word))

  /** By a line that says why: that cannot be seen in the text. */
  const isExplained = /^-- refuses no row: \S/m.test(text)
  const found: string[] = []
  for (const { table, clause } of altered) {
    for (const [pattern, what] of FORBIDDEN) if (pattern.test(clause)) found.push(`${what}: ${table} ${clause}`)
    const definition = ADD_COLUMN.exec(clause)?.[2] ?? ''
    if (/\bnot null\b/.test(definition) && !/\b(default|generated)\b/.test(definition)) found.push(`requires a value: ${table} ${clause}`)
    const [, constraint, , expression] = ADD_CONSTRAINT.exec(clause) ?? []
    // One that takes the place of another of its name is meant to be wider.
    if (!isExplained && expression !== undefined && !(constraint && replaced.has(constraint)) && !isOfNewColumns(expression))
      found.push(`refuses rows: ${table} ${clause}`)
  }
  for (const statement of statements) {
    const [, kind, dropped] = DROP.exec(statement) ?? []
    const isMadeAgain = statements.some((each) => each.startsWith('create ') && each.includes(` ${kind} ${dropped}`))
    if (dropped && !created.has(nameOf(dropped)) && !isMadeAgain) found.push(`drops: ${statement}`)
    const [, table, columns] =
      /^create unique index (?:concurrently )?(?:if not exists )?\S+ on (?:only )?([^\s(]+) ?(.*)$/.exec(statement) ?? []
    if (!isExplained && table && !created.has(nameOf(table)) && !isOfNewColumns(columns!.replace(/\bwhere\b/, '')))
      found.push(`refuses rows: ${statement}`)
    if (/^truncate\b|^alter (?!table|index).*\brename\b|^alter type .*\b(drop|rename)\b/.test(statement))
      found.push(`takes away: ${statement}`)
  }
  return found
}
