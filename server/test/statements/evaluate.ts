// Finds every statement that the product sends through `Queries`, by reading its source: the text of a `sql` template with all fragments
// spliced in, in every variant that conditions allow, and the row type that the call claims. Nothing is executed, so it misses no branch.
import {
  isArrowFunction,
  isAsExpression,
  isAwaitExpression,
  isBinaryExpression,
  isBindingElement,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isElementAccessExpression,
  isExpression,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isMethodDeclaration,
  isNonNullExpression,
  isObjectBindingPattern,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isSatisfiesExpression,
  isShorthandPropertyAssignment,
  isStringLiteral,
  isTaggedTemplateExpression,
  isTemplateExpression,
  isVariableDeclaration,
  SyntaxKind,
  type ArrowFunction,
  type CallExpression,
  type Expression,
  type FunctionDeclaration,
  type Node,
  type ParameterDeclaration,
  type SourceFile,
  type TaggedTemplateExpression,
} from 'typescript/unstable/ast'
import { SymbolFlags, type Checker, type Project, type Symbol, type Type } from 'typescript/unstable/sync'
import { allColumns } from '../../src/schema/columns.ts'
import type { Tables } from '../../src/schema/rows.gen.ts'

export interface Statement {
  file: string
  line: number
  /** With $1, $2, … for the values. */
  texts: string[]
  /** What the call says that a row is; undefined for `run`. */
  row: Type | undefined
}

/** A piece of SQL text, or null for a value that becomes a parameter. */
type Parts = (string | null)[]
/** What parameters and variables stand for, by the id of their symbol. */
type Env = ReadonlyMap<number, () => Value[]>
type Fn = ArrowFunction | FunctionDeclaration
type Value = { parts: Parts } | { fn: Fn; env: Env }

const MAX_VARIANTS = 1_536
const METHODS = ['many', 'maybe', 'one', 'run', 'beforeCommit', 'beforeCommitIf']
const NOTHING: Env = new Map()
/** Where `Queries` is implemented: a query is a parameter there. */
const DEFINITION = /\/kernel\/(database\/)?db\.ts$/

export interface Found {
  statements: Statement[]
  /** Calls whose SQL cannot be told from the source, with where they are and why. */
  problems: string[]
}

export function findStatements({ program, checker }: Project, isProduct: (file: string) => boolean): Found {
  const calls: CallExpression[] = []
  for (const file of program.getSourceFileNames().filter(isProduct)) collectCalls(program.getSourceFile(file)!, calls)
  const evaluator = new Evaluator(checker, calls)
  const statements: Statement[] = []
  const problems: string[] = []
  for (const call of calls) {
    const target = call.expression
    if (!isPropertyAccessExpression(target) || !METHODS.includes(target.name.text) || call.arguments.length !== 1) continue
    const query = call.arguments[0]!
    if (!evaluator.isSql(query) || DEFINITION.test(sourceOf(call).fileName)) continue
    const source = sourceOf(call)
    const where = { file: source.fileName, line: source.getLineAndCharacterOfPosition(query.getStart(source)).line + 1 }
    try {
      const texts = new Set(evaluator.evaluate(query, NOTHING).map((value) => numbered(partsOf(value))))
      statements.push({ ...where, texts: [...texts], row: rowOf(checker, call, target.name.text) })
    } catch (error) {
      problems.push(`${where.file}:${where.line}: ${(error as Error).message}`)
    }
  }
  return { statements, problems }
}

function collectCalls(node: Node, calls: CallExpression[]): void {
  if (isCallExpression(node)) calls.push(node)
  node.forEachChild((child) => collectCalls(child, calls))
}

function sourceOf(node: Node): SourceFile {
  let at = node
  while (at.parent) at = at.parent
  return at as SourceFile
}

function numbered(parts: Parts): string {
  let number = 0
  return parts.map((part) => part ?? `$${++number}`).join('')
}

function partsOf(value: Value): Parts {
  if ('parts' in value) return value.parts
  throw new Error('a function stands where SQL is expected')
}

/** `Promise<Row[]>`, `Promise<Row | undefined>` or `Promise<Row>`, as the compiler has inferred it. */
function rowOf(checker: Checker, call: CallExpression, method: string): Type | undefined {
  if (!['many', 'maybe', 'one'].includes(method)) return undefined
  const promise = checker.getReturnTypeOfSignature(checker.getResolvedSignature(call)!)!
  const [answer] = checker.getTypeArguments(promise as never)
  if (!answer) throw new Error('the call answers no promise')
  if (method === 'many') return checker.getTypeArguments(answer as never)[0]
  return method === 'maybe' ? checker.getNonNullableType(answer) : answer
}

class Evaluator {
  readonly #checker: Checker
  readonly #callsByName = new Map<string, CallExpression[]>()
  readonly #evaluating = new Set<Node>()

  constructor(checker: Checker, calls: CallExpression[]) {
    this.#checker = checker
    for (const call of calls) {
      const name = isIdentifier(call.expression) ? call.expression.text : undefined
      if (name) this.#callsByName.set(name, [...(this.#callsByName.get(name) ?? []), call])
    }
  }

  isSql(expression: Expression): boolean {
    const type = this.#checker.getTypeAtLocation(expression)
    return type !== undefined && /\bSql\b/.test(this.#checker.typeToString(type))
  }

  evaluate(expression: Expression, env: Env): Value[] {
    if (isTaggedTemplateExpression(expression)) return this.#template(expression, env)
    if (
      isParenthesizedExpression(expression) ||
      isAsExpression(expression) ||
      isSatisfiesExpression(expression) ||
      isNonNullExpression(expression) ||
      isAwaitExpression(expression)
    )
      return this.evaluate(expression.expression, env)
    if (isArrowFunction(expression)) return [{ fn: expression, env }]
    if (isConditionalExpression(expression))
      return [...this.evaluate(expression.whenTrue, env), ...this.evaluate(expression.whenFalse, env)]
    if (
      isBinaryExpression(expression) &&
      [SyntaxKind.QuestionQuestionToken, SyntaxKind.BarBarToken].includes(expression.operatorToken.kind)
    )
      return [expression.left, expression.right].filter((side) => this.isSql(side)).flatMap((side) => this.evaluate(side, env))
    if (isCallExpression(expression)) return this.#call(expression, env)
    if (isIdentifier(expression)) return this.#symbol(this.#resolve(expression), env)
    if (isPropertyAccessExpression(expression)) return this.#symbol(this.#resolve(expression.name), env)
    if (isElementAccessExpression(expression)) return this.#anyMember(expression.expression, env)
    throw new Error(`cannot tell what SQL this is: ${expression.getText(sourceOf(expression))}`)
  }

  #template({ template }: TaggedTemplateExpression, env: Env): Value[] {
    if (!isTemplateExpression(template)) return [{ parts: [template.text] }]
    let variants: Parts[] = [[template.head.text]]
    for (const { expression, literal } of template.templateSpans) {
      const spliced = this.isSql(expression) ? this.evaluate(expression, env).map(partsOf) : [[null]]
      variants = variants.flatMap((left) => spliced.map((right) => [...left, ...right, literal.text]))
      if (variants.length > MAX_VARIANTS) throw new Error(`more than ${MAX_VARIANTS} variants of one statement`)
    }
    return variants.map((parts) => ({ parts }))
  }

  #call(call: CallExpression, env: Env): Value[] {
    if (isIdentifier(call.expression) && call.expression.text === 'inline') return [{ parts: ['1'] }]
    if (isIdentifier(call.expression) && call.expression.text === 'allColumns') return [{ parts: [columnsOf(call)] }]
    return this.evaluate(call.expression, env).flatMap((value) => {
      if (!('fn' in value)) throw new Error('what is called is no function')
      const inner = new Map(value.env)
      value.fn.parameters.forEach((parameter, i) => {
        const argument = call.arguments[i]
        if (argument) this.#bind(parameter, argument, env, inner)
      })
      return this.#body(value.fn, inner)
    })
  }

  #bind(parameter: ParameterDeclaration, argument: Expression, env: Env, into: Map<number, () => Value[]>): void {
    if (isIdentifier(parameter.name)) return void into.set(this.#resolve(parameter.name).id, () => this.evaluate(argument, env))
    if (!isObjectBindingPattern(parameter.name) || !isObjectLiteralExpression(argument)) return
    for (const element of parameter.name.elements) {
      const key = (element.propertyName ?? element.name)?.getText(sourceOf(parameter))
      const property = argument.properties.find((each) => 'name' in each && each.name?.getText(sourceOf(argument)) === key)
      if (!property || !element.name || !isIdentifier(element.name)) continue
      const value = isPropertyAssignment(property)
        ? property.initializer
        : isShorthandPropertyAssignment(property)
          ? property.name
          : undefined
      if (value && isExpression(value)) into.set(this.#resolve(element.name).id, () => this.evaluate(value, env))
    }
  }

  #body(fn: Fn, env: Env): Value[] {
    if (!fn.body) throw new Error('a function without a body')
    if (!isBlock(fn.body)) return this.evaluate(fn.body, env)
    const values: Value[] = []
    const visit = (node: Node): void => {
      if (isReturnStatement(node) && node.expression) values.push(...this.evaluate(node.expression, env))
      if (!isArrowFunction(node) && !isFunctionDeclaration(node) && !isFunctionExpression(node)) node.forEachChild(visit)
    }
    fn.body.forEachChild(visit)
    return values
  }

  #resolve(name: Node): Symbol {
    let symbol = this.#checker.getSymbolAtLocation(name)
    if (symbol && isShorthandPropertyAssignment(name.parent))
      symbol = this.#checker.getShorthandAssignmentValueSymbol(name.parent) ?? symbol
    if (!symbol) throw new Error(`unknown name ${name.getText(sourceOf(name))}`)
    return symbol.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }

  #symbol(symbol: Symbol, env: Env): Value[] {
    const bound = env.get(symbol.id)
    if (bound) return bound()
    const declaration = symbol.valueDeclaration?.resolve()
    if (!declaration) throw new Error(`${symbol.name} has no declaration`)
    if (this.#evaluating.has(declaration)) return []
    this.#evaluating.add(declaration)
    try {
      return this.#declaration(symbol, declaration, env)
    } finally {
      this.#evaluating.delete(declaration)
    }
  }

  #declaration(symbol: Symbol, declaration: Node, env: Env): Value[] {
    if (isFunctionDeclaration(declaration)) return [{ fn: declaration, env }]
    if (isVariableDeclaration(declaration) && declaration.initializer) return this.#variable(symbol, declaration.initializer, env)
    if (isPropertyAssignment(declaration)) return this.evaluate(declaration.initializer, env)
    if (isShorthandPropertyAssignment(declaration)) return this.#symbol(this.#resolve(declaration.name), env)
    if (isMethodDeclaration(declaration)) return [{ fn: declaration as unknown as Fn, env }]
    if (isParameterDeclaration(declaration)) return this.#arguments(declaration, declaration.parent as Fn, undefined)
    if (isBindingElement(declaration)) {
      const parameter = declaration.parent.parent
      if (isParameterDeclaration(parameter)) return this.#arguments(parameter, parameter.parent as Fn, symbol)
    }
    throw new Error(`cannot tell what SQL ${symbol.name} is`)
  }

  /** A variable that conditions extend (`let x = sql…; if (y) x = sql…${x}…`) has a variant for each choice. */
  #variable(symbol: Symbol, initializer: Expression, env: Env): Value[] {
    let values = this.evaluate(initializer, env)
    const assigned: Expression[] = []
    const visit = (node: Node): void => {
      if (
        isBinaryExpression(node) &&
        node.operatorToken.kind === SyntaxKind.EqualsToken &&
        isIdentifier(node.left) &&
        node.left.text === symbol.name &&
        this.#resolve(node.left).id === symbol.id
      )
        assigned.push(node.right)
      node.forEachChild(visit)
    }
    let scope: Node = initializer
    while (scope.parent && !isBlock(scope)) scope = scope.parent
    if (isBlock(scope)) scope.forEachChild(visit)
    for (const expression of assigned) {
      const before = values
      values = [...before, ...before.flatMap((value) => this.evaluate(expression, new Map([...env, [symbol.id, () => [value]]])))]
    }
    return values
  }

  /** The values that any caller gives this parameter. */
  #arguments(parameter: ParameterDeclaration, fn: Fn, element: Symbol | undefined): Value[] {
    const name = isFunctionDeclaration(fn) ? fn.name : isVariableDeclaration(fn.parent) ? fn.parent.name : undefined
    if (!name || !isIdentifier(name)) throw new Error(`cannot find the callers of ${fn.getText(sourceOf(fn)).slice(0, 60)}`)
    const { id } = this.#resolve(name)
    const index = fn.parameters.indexOf(parameter)
    const values = (this.#callsByName.get(name.text) ?? [])
      .filter((call) => this.#resolve(call.expression).id === id)
      .flatMap((call) => {
        const argument = call.arguments[index] ?? parameter.initializer
        if (!argument) return []
        if (!element) return this.evaluate(argument, NOTHING)
        const inner = new Map<number, () => Value[]>()
        this.#bind(parameter, argument, NOTHING, inner)
        return inner.get(element.id)?.() ?? []
      })
    if (values.length === 0) throw new Error(`nobody calls ${name.text} with SQL`)
    return values
  }

  #anyMember(object: Expression, env: Env): Value[] {
    if (!isIdentifier(object)) throw new Error('cannot tell what SQL a member of an expression is')
    const declaration = this.#resolve(object).valueDeclaration?.resolve()
    const initializer = declaration && isVariableDeclaration(declaration) ? unwrapped(declaration.initializer) : undefined
    if (!initializer || !isObjectLiteralExpression(initializer)) throw new Error('cannot tell what SQL a member of a variable is')
    return initializer.properties.flatMap((property) => (isPropertyAssignment(property) ? this.evaluate(property.initializer, env) : []))
  }
}

function columnsOf({ arguments: [table, alias] }: CallExpression): string {
  if (!table || !isStringLiteral(table) || (alias && !isStringLiteral(alias))) throw new Error('allColumns wants literal names')
  return allColumns(table.text as keyof Tables, alias?.text).text
}

function unwrapped(expression: Expression | undefined): Expression | undefined {
  return expression && (isAsExpression(expression) || isSatisfiesExpression(expression)) ? expression.expression : expression
}
