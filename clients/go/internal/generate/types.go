package main

import (
	"fmt"
	"slices"
	"strings"
)

// generator turns a document into Go.
type generator struct {
	document *document
	// requests has the schemas that are part of a request body: there an optional null differs from nothing.
	requests map[string]bool
	// named are the structs that are written, in their order, under the names of the document.
	named ordered[*schema]
	// inRequest are the names in named that are part of a request.
	inRequest map[string]bool
	anonymous map[string]*anonymous
	order     []*anonymous
	// used are the entries of typeNames that name something.
	used map[string]bool
}

// anonymous is an object or an enumeration without a name, at all places where it is the same.
type anonymous struct {
	schema    *schema
	paths     []string
	inRequest bool
	name      string
}

func newGenerator(read *document) *generator {
	g := &generator{document: read, requests: map[string]bool{}, inRequest: map[string]bool{}, anonymous: map[string]*anonymous{}, used: map[string]bool{}}
	for _, op := range g.operations() {
		if op.RequestBody != nil {
			g.markRequest(op.RequestBody.schema())
		}
	}
	events := g.eventSchemas()
	for _, each := range read.Components.Schemas {
		if each.name != "Error" && each.name != "Event" && !events[each.name] {
			g.add(each.name, each.value, g.requests[each.name])
		}
	}
	for _, op := range g.operations() {
		g.addOperation(op)
	}
	for _, each := range g.named {
		g.collect(each.value, each.name, g.inRequest[each.name])
	}
	g.collect(read.Components.Headers["X-Error-Code"].Schema, "ErrorCode", false)
	for _, each := range g.order {
		each.name = g.nameOf(each)
	}
	return g
}

func (g *generator) add(name string, s *schema, inRequest bool) {
	g.named = append(g.named, member[*schema]{name, s})
	g.inRequest[name] = inRequest
}

// addOperation names the schemas that the document has in the operation only.
func (g *generator) addOperation(op boundOperation) {
	name := goName(op.OperationID)
	if op.RequestBody != nil && op.RequestBody.schema().Ref == "" {
		g.add(name, op.RequestBody.schema(), true)
	}
	if query := op.query(); query != nil {
		g.add(name+"Query", query, false)
	}
	if data := op.data(); data.Ref == "" && !data.is("array") {
		g.collect(data, name+"Result", false)
	}
}

func (g *generator) markRequest(s *schema) {
	if s == nil {
		return
	}
	if name := s.refName(); name != "" {
		if g.requests[name] {
			return
		}
		g.requests[name] = true
		g.markRequest(g.document.Components.Schemas.get(name))
		return
	}
	for _, each := range slices.Concat(s.AnyOf, []*schema{s.Items}) {
		g.markRequest(each)
	}
	for _, each := range s.Properties {
		g.markRequest(each.value)
	}
}

// eventSchemas are the envelopes of events, of which Event is the only one in Go.
func (g *generator) eventSchemas() map[string]bool {
	names := map[string]bool{}
	for _, each := range g.document.Components.Schemas.get("Event").OneOf {
		names[each.refName()] = true
	}
	return names
}

// collect finds the anonymous objects and enumerations in a schema.
func (g *generator) collect(s *schema, path string, inRequest bool) {
	s, _ = s.nonNull()
	switch {
	case s.Ref != "":
	case len(s.Enum) > 0:
		g.addAnonymous(s, path, inRequest)
	case s.Items != nil:
		g.collect(s.Items, path+"[]", inRequest)
	case len(s.Properties) > 0:
		if !slices.ContainsFunc(g.named, func(each member[*schema]) bool { return each.value == s }) {
			g.addAnonymous(s, path, inRequest)
		}
		for _, each := range s.Properties {
			g.collect(each.value, path+"."+each.name, inRequest)
		}
	}
}

func (g *generator) addAnonymous(s *schema, path string, inRequest bool) {
	key := shapeOf(s, inRequest)
	if g.anonymous[key] == nil {
		g.anonymous[key] = &anonymous{schema: s, inRequest: inRequest}
		g.order = append(g.order, g.anonymous[key])
	}
	g.anonymous[key].paths = append(g.anonymous[key].paths, path)
}

// shapeOf is the same for schemas that become the same type.
func shapeOf(s *schema, inRequest bool) string {
	s, null := s.nonNull()
	if len(s.Enum) > 0 {
		return fmt.Sprintf("%v %q", null, s.Enum)
	}
	text := fmt.Sprintf("%v %v %s %s %s %v", null, s.Type, s.Ref, s.Format, s.AdditionalProperties, s.Const)
	if s.Items != nil {
		text += "[" + shapeOf(s.Items, inRequest) + "]"
	}
	for _, each := range s.Properties {
		text += fmt.Sprintf(" %s %v %v {%s}", each.name, slices.Contains(s.Required, each.name), inRequest, shapeOf(each.value, inRequest))
	}
	return text
}

func (g *generator) nameOf(each *anonymous) string {
	best := ""
	for _, path := range each.paths {
		if name, ok := typeNames[path]; ok {
			g.used[path] = true
			return name
		}
		if name := nameByPlace(path); best == "" || len(name) < len(best) {
			best = name
		}
	}
	return best
}

func nameByPlace(path string) string {
	var name string
	for part := range strings.SplitSeq(path, ".") {
		if each, ok := strings.CutSuffix(part, "[]"); ok {
			part = singular(each)
		}
		name += goName(part)
	}
	return name
}

// goType is the type of a value: a pointer where it may be null.
func (g *generator) goType(s *schema, name string, inRequest bool) string {
	rest, null := s.nonNull()
	base := g.baseType(rest, name, inRequest)
	if null && !isNilable(base) {
		return "*" + base
	}
	return base
}

func (g *generator) baseType(s *schema, name string, inRequest bool) string {
	if anonymous := g.anonymous[shapeOf(s, inRequest)]; anonymous != nil && (len(s.Enum) > 0 || len(s.Properties) > 0) {
		return anonymous.name
	}
	switch {
	case s.Ref != "":
		return goName(s.refName())
	case s.Items != nil:
		return "[]" + g.goType(s.Items, name, inRequest)
	case s.is("string") && s.Format == "date-time":
		return "time.Time"
	case s.is("string"):
		return "string"
	case s.is("boolean"):
		return "bool"
	case s.is("number"):
		return "float64"
	case s.is("integer") && strings.HasSuffix(name, "Bytes"):
		return "int64"
	case s.is("integer"):
		return "int"
	case s.is("object"):
		return "map[string]string"
	}
	return "any"
}

func isNilable(goType string) bool {
	return goType == "any" || strings.HasPrefix(goType, "[]") || strings.HasPrefix(goType, "map[")
}

// field is the type of a property with the options of its JSON tag.
func (g *generator) field(s *schema, name string, required, inRequest bool) (goType, options string) {
	goType = g.goType(s, name, inRequest)
	if required {
		return goType, ""
	}
	_, null := s.nonNull()
	switch {
	case isNilable(goType):
		return goType, ",omitzero"
	case null && inRequest:
		return "Nullable[" + strings.TrimPrefix(goType, "*") + "]", ",omitzero"
	case null:
		return goType, ",omitempty"
	}
	return "*" + goType, ",omitempty"
}

// queryField is the type of a query parameter: what is empty is left out, so only what can mean something when it is empty is a pointer.
func (g *generator) queryField(s *schema, name string, required bool) (goType, options string) {
	goType = g.goType(s, name, false)
	if required {
		return goType, ""
	}
	if goType == "time.Time" || s.is("boolean") || s.is("integer") && (s.Minimum == nil || *s.Minimum < 1) {
		return "*" + goType, ",omitempty"
	}
	return goType, ",omitempty"
}
