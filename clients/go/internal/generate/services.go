package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// boundOperation is an operation with its place.
type boundOperation struct {
	operation
	method, path string
}

func (g *generator) operations() []boundOperation {
	var all []boundOperation
	for _, path := range g.document.Paths {
		for _, each := range path.value {
			all = append(all, boundOperation{each.value, strings.ToUpper(each.name), path.name})
		}
	}
	return all
}

// query is the schema of the query parameters, or nil where there are none but dryRun.
func (op boundOperation) query() *schema {
	query := &schema{Type: types{"object"}, Description: "the query of " + op.method + " " + op.path + "."}
	for _, each := range op.Parameters {
		if each.In != "query" || each.Name == "dryRun" {
			continue
		}
		described := *each.Schema
		described.Description = each.Description
		query.Properties = append(query.Properties, member[*schema]{each.Name, &described})
		if each.Required {
			query.Required = append(query.Required, each.Name)
		}
	}
	if query.Properties == nil {
		return nil
	}
	return query
}

func (op boundOperation) isPriced() bool {
	return slices.ContainsFunc(op.Parameters, func(each parameter) bool { return each.Name == "dryRun" })
}

func (op boundOperation) isPaged() bool {
	return op.successes()[0].Properties.get("pagination") != nil
}

func (op boundOperation) successes() []*schema {
	var all []*schema
	for _, each := range op.Responses {
		if strings.HasPrefix(each.name, "2") {
			all = append(all, each.value.schema())
		}
	}
	return all
}

// data is the schema of what the operation returns, unless it is a dry run.
func (op boundOperation) data() *schema {
	successes := op.successes()
	data := successes[len(successes)-1].Properties.get("data")
	if len(data.AnyOf) > 0 && op.isPriced() {
		return data.AnyOf[0]
	}
	return data
}

func (op boundOperation) quote() *schema {
	data := op.successes()[0].Properties.get("data")
	if len(data.AnyOf) > 0 {
		return data.AnyOf[1]
	}
	return data
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// parameters are the path parameters in their order.
func (op boundOperation) parameters() []string {
	var names []string
	for _, match := range placeholder.FindAllStringSubmatch(op.path, -1) {
		names = append(names, match[1])
	}
	return names
}

// bodyType is the type of the body as an argument, or "".
func (op boundOperation) bodyType() string {
	if op.RequestBody == nil {
		return ""
	}
	name := goName(op.OperationID)
	if ref := op.RequestBody.schema().refName(); ref != "" {
		name = goName(ref)
	}
	if !op.RequestBody.Required {
		return "*" + name
	}
	return name
}

func (op boundOperation) queryType() string {
	if op.query() == nil {
		return ""
	}
	return goName(op.OperationID) + "Query"
}

// signature has the arguments of a method between the context and the options.
func (op boundOperation) signature() string {
	var text string
	for _, name := range op.parameters() {
		text += parameterName(name) + " string, "
	}
	if op.bodyType() != "" {
		text += "body " + op.bodyType() + ", "
	}
	if op.queryType() != "" {
		text += "query " + op.queryType() + ", "
	}
	return text
}

// request is the value of type request that a method sends.
func (op boundOperation) request(more string) string {
	text := fmt.Sprintf("request{method: %q, path: %q", op.method, op.path)
	if parameters := op.parameters(); len(parameters) > 0 {
		var names []string
		for _, name := range parameters {
			names = append(names, parameterName(name))
		}
		text += ", ids: []string{" + strings.Join(names, ", ") + "}"
	}
	if op.bodyType() != "" {
		text += ", body: body"
	}
	if op.queryType() != "" {
		text += ", query: query"
	}
	return text + more + "}"
}

func (g *generator) resultType(data *schema) string {
	if data.is("array") {
		return "[]" + g.baseType(data.Items, "", false)
	}
	return "*" + g.baseType(data, "", false)
}

// checkMethods says which operation has no method, and which method has no operation.
func (g *generator) checkMethods() error {
	known := map[string]bool{}
	for _, op := range g.operations() {
		known[op.OperationID] = true
		if _, ok := methods[op.OperationID]; !ok {
			return fmt.Errorf("operations.go has no method for %s (%s %s)", op.OperationID, op.method, op.path)
		}
	}
	for id := range methods {
		if !known[id] {
			return fmt.Errorf("operations.go has %s, which is no operation", id)
		}
	}
	return nil
}

func (g *generator) servicesFile() (string, error) {
	services := map[string][]boundOperation{}
	for _, op := range g.operations() {
		service := methods[op.OperationID].service
		services[service] = append(services[service], op)
	}
	var f file
	f.WriteString(header + "import (\n\"context\"\n\"iter\"\n)\n\n")
	names := slices.Sorted(maps.Keys(services))
	f.line("// Client calls one server with one token. It is safe for concurrent use, and need not be closed.\ntype Client struct {\napi *api")
	for _, name := range names {
		f.line("%s *%sService", name, name)
	}
	f.line("}\n\nfunc newClient(a *api) *Client {\nreturn &Client{\napi: a,")
	for _, name := range names {
		f.line("%s: &%sService{a},", name, name)
	}
	f.line("}\n}\n")
	for _, name := range names {
		f.line("// %sService is what a client has as its %s.\ntype %sService struct{ api *api }\n", name, name, name)
		for _, op := range services[name] {
			g.writeMethods(&f, name, op)
		}
	}
	return f.format()
}

func (g *generator) writeMethods(f *file, service string, op boundOperation) {
	method := methods[op.OperationID].method
	note := fmt.Sprintf("%s %s.", op.method, op.path)
	if op.Scope != "" {
		note = fmt.Sprintf("%s %s, which needs the scope %s.", op.method, op.path, op.Scope)
	}
	signature := func(name, result string) {
		f.line("func (s *%sService) %s(ctx context.Context, %soptions ...CallOption) %s {", service, name, op.signature(), result)
	}
	if op.isPaged() {
		item := g.baseType(op.data().Items, "", false)
		f.comment(fmt.Sprintf("%s returns one page: %s.\n\n%s", method, lower(op.Summary), note))
		signature(method, "(*Page["+item+"], error)")
		f.line("return getPage[%s](ctx, s.api, %s, options)\n}\n", item, op.request(""))
		all := allOf(method)
		f.comment(fmt.Sprintf("%s iterates over all pages of %s, from the page of the query on.", all, method))
		signature(all, "iter.Seq2[*"+item+", error]")
		f.line("return allPages[%s](ctx, s.api, %s, options)\n}\n", item, op.request(""))
		return
	}
	result := g.resultType(op.data())
	f.comment(fmt.Sprintf("%s: %s.\n\n%s", method, lower(op.Summary), note))
	signature(method, "("+result+", error)")
	f.line("return call[%s](ctx, s.api, %s, options)\n}\n", result, op.request(""))
	if op.isPriced() {
		quote := g.resultType(op.quote())
		f.comment(fmt.Sprintf("Quote%s is a dry run of %s: it returns the price, or the error that %s would return, and changes nothing.", method, method, method))
		signature("Quote"+method, "("+quote+", error)")
		f.line("return call[%s](ctx, s.api, %s, options)\n}\n", quote, op.request(", dryRun: true"))
	}
}

func allOf(method string) string { return "All" + strings.TrimPrefix(method, "List") }

func lower(summary string) string {
	if len(summary) > 1 && summary[1] >= 'a' && summary[1] <= 'z' {
		return strings.ToLower(summary[:1]) + summary[1:]
	}
	return summary
}

// testFile calls each operation by its id, for tests that have ids and JSON.
func (g *generator) testFile() (string, error) {
	var f file
	f.WriteString(header + "import (\n\"context\"\n\"iter\"\n)\n\n")
	tables := []struct{ name, result string }{{"calls", "(any, error)"}, {"quotes", "(any, error)"}, {"pages", "(any, error)"}, {"lists", "iter.Seq2[any, error]"}}
	for _, table := range tables {
		f.line("var %s = map[string]func(context.Context, *Client, input) %s{", table.name, table.result)
		for _, op := range g.operations() {
			g.writeEntry(&f, table.name, table.result, op)
		}
		f.line("}\n")
	}
	return f.format()
}

func (g *generator) writeEntry(f *file, table, result string, op boundOperation) {
	target := methods[op.OperationID]
	method := map[string]string{"calls": target.method, "quotes": "Quote" + target.method, "pages": target.method, "lists": allOf(target.method)}[table]
	exists := map[string]bool{"calls": !op.isPaged(), "quotes": op.isPriced(), "pages": op.isPaged(), "lists": op.isPaged()}[table]
	if !exists {
		return
	}
	arguments := "ctx, "
	for _, name := range op.parameters() {
		arguments += fmt.Sprintf("in.Path[%q], ", name)
	}
	if op.bodyType() != "" {
		arguments += fmt.Sprintf("argument[%s](in.Body), ", op.bodyType())
	}
	if op.queryType() != "" {
		arguments += fmt.Sprintf("argument[%s](in.Query), ", op.queryType())
	}
	called := fmt.Sprintf("c.%s.%s(%sin.options...)", target.service, method, arguments)
	if table == "lists" {
		called = "anyItems(" + called + ")"
	}
	f.line("%q: func(ctx context.Context, c *Client, in input) %s { return %s },", op.OperationID, result, called)
}
