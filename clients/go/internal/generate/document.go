package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// document is what the generator needs of openapi/v1.json.
type document struct {
	Paths      ordered[ordered[operation]]
	Components struct {
		Schemas ordered[*schema]
		Headers map[string]struct{ Schema *schema }
	}
}

type operation struct {
	OperationID string
	Summary     string
	Scope       string `json:"x-scope"`
	Parameters  []parameter
	RequestBody *struct {
		Required bool
		content
	}
	Responses ordered[content]
}

type parameter struct {
	Name        string
	In          string
	Required    bool
	Description string
	Schema      *schema
}

type content struct {
	Content map[string]struct{ Schema *schema }
}

func (c content) schema() *schema { return c.Content["application/json"].Schema }

// schema is a schema of JSON Schema 2020-12, as far as the document uses it.
type schema struct {
	Ref                  string `json:"$ref"`
	Type                 types
	Format               string
	Description          string `json:"description,omitempty"`
	Enum                 []string
	Const                any
	AnyOf                []*schema
	OneOf                []*schema
	Items                *schema
	Properties           ordered[*schema]
	Required             []string
	AdditionalProperties json.RawMessage
	Minimum              *float64
	Discriminator        struct{ Mapping ordered[string] }
}

// types is the type of a schema: a name, or a list of names.
type types []string

func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// refName is the name of the schema that is referred to, or "".
func (s *schema) refName() string { return s.Ref[strings.LastIndex(s.Ref, "/")+1:] }

// nonNull returns what is left of the schema without null, and whether null is allowed.
func (s *schema) nonNull() (*schema, bool) {
	if len(s.AnyOf) == 2 && s.AnyOf[1].is("null") {
		return s.AnyOf[0], true
	}
	if len(s.Type) == 2 && s.Type[1] == "null" {
		rest := *s
		rest.Type = s.Type[:1]
		return &rest, true
	}
	return s, false
}

func (s *schema) is(name string) bool { return len(s.Type) == 1 && s.Type[0] == name }

// ordered is an object in the order of the document.
type ordered[T any] []member[T]

type member[T any] struct {
	name  string
	value T
}

func (o *ordered[T]) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		each := member[T]{name: name.(string)}
		if err := decoder.Decode(&each.value); err != nil {
			return err
		}
		*o = append(*o, each)
	}
	return nil
}

func (o ordered[T]) get(name string) (found T) {
	for _, each := range o {
		if each.name == name {
			return each.value
		}
	}
	return found
}

func readDocument(path string) (*document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var read document
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &read, nil
}
