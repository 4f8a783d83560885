package berth

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentationIsExamples finds each piece of Go in the documentation among the examples, which the compiler checks.
func TestDocumentationIsExamples(t *testing.T) {
	text, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	examples := withoutIndentation(string(text))
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	for _, page := range []string{"README.md", "../../docs/guide/go.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := blocks.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s has no example", page)
		}
		for _, block := range found {
			if !strings.Contains(examples, withoutIndentation(block[1])) {
				t.Errorf("%s has what example_test.go has not:\n%s", page, block[1])
			}
		}
	}
}

func withoutIndentation(text string) string {
	return regexp.MustCompile(`(?m)^\s+`).ReplaceAllString(text, "")
}
