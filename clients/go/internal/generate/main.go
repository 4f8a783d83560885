// Command generate writes the types and the methods of the client from openapi/v1.json: go generate, in clients/go. A test fails when they are
// stale.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	files, err := generate(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(os.Args[2], name), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// generate returns the generated files by their names.
func generate(path string) (map[string]string, error) {
	read, err := readDocument(path)
	if err != nil {
		return nil, err
	}
	g := newGenerator(read)
	if err := g.checkMethods(); err != nil {
		return nil, err
	}
	for place := range typeNames {
		if !g.used[place] {
			return nil, fmt.Errorf("names.go names %s, which is nowhere", place)
		}
	}
	files := map[string]string{}
	for name, write := range map[string]func() (string, error){
		"types.gen.go":           g.typesFile,
		"services.gen.go":        g.servicesFile,
		"operations_gen_test.go": g.testFile,
	} {
		if files[name], err = write(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}
