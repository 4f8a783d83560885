package berth

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func readJSON[T any](t *testing.T, path string) (value T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// changed is a fault that changes every request and every answer that is not a stream.
type changed struct {
	next    http.RoundTripper
	request func(*http.Request)
	answer  func(string) string
}

func (c changed) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	if c.request != nil {
		c.request(request)
	}
	response, err := c.next.RoundTrip(request)
	if err != nil || c.answer == nil {
		return response, err
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	body := c.answer(string(text))
	response.Body, response.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return response, nil
}

func replacing(pattern, replacement string) func(string) string {
	expression := regexp.MustCompile(pattern)
	return func(text string) string { return expression.ReplaceAllString(text, replacement) }
}

// faults are those that clients/vectors/README.md lists.
var faults = map[string]changed{
	"requests":   {request: func(r *http.Request) { r.URL.RawPath = ""; r.URL.Opaque = "//" + r.URL.Host + r.URL.Path }},
	"answers":    {answer: replacing(`"data":.*`, `"data":{}}`)},
	"pagination": {request: dropFilter},
	"errors":     {answer: replacing(`"code":\s*"\w+"`, `"code":"internal_error"`)},
	"retries":    {request: func(r *http.Request) { r.Header.Set(idempotencyHeader, randomKey()) }},
	"actions":    {answer: replacing(`"FAILED"`, `"COMPLETED"`)},
	"stream":     {request: func(r *http.Request) { r.Header.Del("Last-Event-ID") }},
}

func dropFilter(r *http.Request) {
	query := r.URL.Query()
	if query.Has("cursor") {
		query.Del("labelSelector")
		r.URL.RawQuery = query.Encode()
	}
}

func TestVectors(t *testing.T) {
	for file, fault := range faults {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			scenarios := readJSON[[]scenario](t, "../vectors/"+file+".json")
			noticed := 0
			for _, each := range scenarios {
				t.Run(each.Name, func(t *testing.T) {
					for _, difference := range each.play(t, nil) {
						t.Error(difference)
					}
					plant := func(next http.RoundTripper) http.RoundTripper { return changed{next, fault.request, fault.answer} }
					noticed += min(len(each.play(t, plant)), 1)
				})
			}
			if noticed == 0 {
				t.Error("no scenario notices the planted fault")
			}
		})
	}
}

type webhookScenario struct {
	Name, Payload, Secret string
	Headers               map[string]string
	Now                   int64
	ToleranceSeconds      *int
	Value                 json.RawMessage
	Error                 map[string]any
}

func (s *webhookScenario) play(verify func([]byte, http.Header, string, ...VerifyOption) (*Event, error)) []string {
	header := http.Header{}
	for name, value := range s.Headers {
		header.Set(name, value)
	}
	options := []VerifyOption{Now(time.Unix(s.Now, 0))}
	if s.ToleranceSeconds != nil {
		options = append(options, Tolerance(time.Duration(*s.ToleranceSeconds)*time.Second))
	}
	event, err := verify([]byte(s.Payload), header, s.Secret, options...)
	return compareOutcome(event, err, s.Value, s.Error)
}

func TestWebhookVectors(t *testing.T) {
	noticed := 0
	trustful := func(payload []byte, _ http.Header, _ string, _ ...VerifyOption) (*Event, error) {
		var event Event
		return &event, json.Unmarshal(payload, &event)
	}
	for _, each := range readJSON[[]webhookScenario](t, "../vectors/webhooks.json") {
		t.Run(each.Name, func(t *testing.T) {
			for _, difference := range each.play(VerifyWebhook) {
				t.Error(difference)
			}
		})
		noticed += min(len(each.play(trustful)), 1)
	}
	if noticed == 0 {
		t.Error("no scenario notices the planted fault")
	}
}

type example struct {
	OperationID, Method, Path string
	Body                      json.RawMessage
	Status                    int
	Answer                    json.RawMessage
}

// TestExamples calls every operation: what is sent and what is returned lose and invent nothing.
func TestExamples(t *testing.T) {
	templates := operationsOf(t)
	examples := readJSON[[]example](t, "../../openapi/examples.json")
	if len(examples) != len(templates) || len(calls)+len(pages) != len(templates) {
		t.Fatalf("%d operations, %d examples, %d methods", len(templates), len(examples), len(calls)+len(pages))
	}
	for _, each := range examples {
		t.Run(each.OperationID, func(t *testing.T) {
			address, err := url.Parse(each.Path)
			if err != nil {
				t.Fatal(err)
			}
			var answer struct{ Data json.RawMessage }
			if err := json.Unmarshal(each.Answer, &answer); err != nil {
				t.Fatal(err)
			}
			query := firstValues(address.Query())
			call := operationCall{Operation: each.OperationID, Path: valuesIn(templates[each.OperationID], each.Path), Body: each.Body}
			if len(query) > 0 {
				call.Query, _ = json.Marshal(query)
			}
			expected := expectedRequest{Method: each.Method, Path: prefix + address.EscapedPath(), Query: query, Body: each.Body}
			if each.Body == nil {
				expected.Body = json.RawMessage("null")
			}
			played := scenario{Call: &call, Answers: []scriptedAnswer{{Status: each.Status, Body: each.Answer}}, Value: answer.Data, Requests: &[]expectedRequest{expected}, exact: true}
			for _, difference := range played.play(t, nil) {
				t.Error(difference)
			}
		})
	}
}

// operationsOf are the paths of all operations of the OpenAPI document.
func operationsOf(t *testing.T) map[string]string {
	document := readJSON[struct {
		Paths map[string]map[string]struct{ OperationID string }
	}](t, "../../openapi/v1.json")
	paths := map[string]string{}
	for path, methods := range document.Paths {
		for _, operation := range methods {
			paths[operation.OperationID] = path
		}
	}
	return paths
}

func valuesIn(template, path string) map[string]string {
	path, _, _ = strings.Cut(path, "?")
	values := map[string]string{}
	filled := strings.Split(path, "/")
	for i, part := range strings.Split(template, "/") {
		if name := strings.Trim(part, "{}"); name != part {
			values[name], _ = url.PathUnescape(filled[i])
		}
	}
	return values
}
