package berth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// scenario is one of clients/vectors, whose README.md says what its fields mean.
type scenario struct {
	Name   string
	Client struct {
		Token, BaseURL *string
		BasePath       string
		MaxRetries     *int
		TimeoutMs      int
	}
	Call, List, Page *operationCall
	Events           *ListEventsQuery
	Wait             *struct {
		VMID, ActionID string
		Progress       bool
		TimeoutMs      int
		MaxRetries     *int
	}
	Stream *struct {
		After, LabelSelector string
		MaxRetries           *int
		Take                 int
	}
	Answers         []scriptedAnswer
	Value           json.RawMessage
	Items           []any
	Error           map[string]any
	Requests        *[]expectedRequest
	IdempotencyKeys string
	Waits           *[][2]float64
	Progress        []int
	Reconnects      *[]string
	// exact: the value has no field that is not expected.
	exact bool
}

type operationCall struct {
	Operation      string
	Path           map[string]string
	Query, Body    json.RawMessage
	DryRun         bool
	IdempotencyKey json.RawMessage
	MaxRetries     *int
	Take           int
}

type expectedRequest struct {
	Method, Path string
	Query        map[string]string
	Headers      map[string]any
	Body         json.RawMessage
}

// input is what the generated tables call an operation with.
type input struct {
	Path        map[string]string
	Query, Body json.RawMessage
	options     []CallOption
}

// argument reads an argument of a method. A field that the type does not have is an error.
func argument[T any](text json.RawMessage) (value T) {
	if text == nil {
		return value
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		panic(fmt.Sprintf("%T: %v", value, err))
	}
	return value
}

func anyItems[T any](items iter.Seq2[T, error]) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for item, err := range items {
			if !yield(item, err) {
				return
			}
		}
	}
}

func (c *operationCall) input() input {
	in := input{Path: c.Path, Query: c.Query, Body: c.Body}
	switch {
	case c.IdempotencyKey == nil:
	case string(c.IdempotencyKey) == "null":
		in.options = append(in.options, NoIdempotencyKey())
	default:
		in.options = append(in.options, IdempotencyKey(argument[string](c.IdempotencyKey)))
	}
	if c.MaxRetries != nil {
		in.options = append(in.options, CallMaxRetries(*c.MaxRetries))
	}
	return in
}

// recording is what a client did.
type recording struct {
	value      any
	items      []any
	err        error
	pauses     []float64
	progress   []int
	reconnects []string
}

// play returns what the client does differently from the scenario. plant is a fault in the client, or nil.
func (s *scenario) play(t *testing.T, plant func(http.RoundTripper) http.RoundTripper) []string {
	server := startScriptedServer(t, s.Answers)
	var got recording
	client, err := s.newClient(server.URL, &got, plant)
	got.err = err
	if err == nil {
		got.value, got.err = s.perform(client, &got)
	}
	return s.compare(&got, server.received())
}

func (s *scenario) newClient(serverURL string, got *recording, plant func(http.RoundTripper) http.RoundTripper) (*Client, error) {
	token, baseURL := "vmk_test", serverURL+s.Client.BasePath
	if s.Client.Token != nil {
		token = *s.Client.Token
	}
	if s.Client.BaseURL != nil {
		baseURL = *s.Client.BaseURL
	}
	options := []ClientOption{WithSleep(func(ctx context.Context, pause time.Duration, _ error) error {
		got.pauses = append(got.pauses, float64(pause)/float64(time.Millisecond))
		return ctx.Err()
	})}
	if s.Client.MaxRetries != nil {
		options = append(options, WithMaxRetries(*s.Client.MaxRetries))
	}
	if s.Client.TimeoutMs > 0 {
		options = append(options, WithTimeout(time.Duration(s.Client.TimeoutMs)*time.Millisecond))
	}
	if plant != nil {
		options = append(options, WithHTTPClient(&http.Client{Transport: plant(http.DefaultTransport)}))
	}
	return NewClient(baseURL, token, options...)
}

func (s *scenario) perform(client *Client, got *recording) (any, error) {
	ctx := context.Background()
	switch {
	case s.Call != nil && s.Call.DryRun:
		return quotes[s.Call.Operation](ctx, client, s.Call.input())
	case s.Call != nil && calls[s.Call.Operation] != nil:
		return calls[s.Call.Operation](ctx, client, s.Call.input())
	case s.Call != nil:
		return itemsOf(pages[s.Call.Operation](ctx, client, s.Call.input()))
	case s.Page != nil:
		return pages[s.Page.Operation](ctx, client, s.Page.input())
	case s.List != nil:
		return nil, got.take(lists[s.List.Operation](ctx, client, s.List.input()), s.List.Take)
	case s.Events != nil:
		return nil, got.take(anyItems(client.Event.All(ctx, *s.Events)), 0)
	case s.Wait != nil:
		options := WaitOptions{Timeout: time.Duration(s.Wait.TimeoutMs) * time.Millisecond, MaxRetries: s.Wait.MaxRetries}
		if s.Wait.Progress {
			options.OnProgress = func(action *Action) { got.progress = append(got.progress, action.Progress) }
		}
		return client.Action.WaitFor(ctx, s.Wait.VMID, s.Wait.ActionID, options)
	}
	options := StreamOptions{After: s.Stream.After, LabelSelector: s.Stream.LabelSelector, MaxRetries: s.Stream.MaxRetries}
	options.OnReconnect = func(_ error, after string) { got.reconnects = append(got.reconnects, after) }
	return nil, got.take(anyItems(client.Event.Stream(ctx, options)), s.Stream.Take)
}

// itemsOf is a page as the list that the server sent.
func itemsOf(page any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return reflect.ValueOf(page).Elem().FieldByName("Items").Interface(), nil
}

func (r *recording) take(items iter.Seq2[any, error], count int) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		if r.items = append(r.items, item); len(r.items) == count {
			return nil
		}
	}
	return nil
}

func (s *scenario) compare(got *recording, requests []receivedRequest) []string {
	var faults []string
	note := func(format string, values ...any) { faults = append(faults, fmt.Sprintf(format, values...)) }
	faults = append(faults, compareOutcome(got.value, got.err, s.Value, s.Error)...)
	if s.exact && !isLike(asJSON(s.Value), asJSON(got.value)) {
		note("the value has more: %s", textOf(got.value))
	}
	if s.Items != nil && !isLike(asJSON(got.items), s.Items) {
		note("items are %s", textOf(got.items))
	}
	if s.Progress != nil && !slices.Equal(got.progress, s.Progress) {
		note("progress is %v", got.progress)
	}
	if s.Reconnects != nil && !slices.Equal(got.reconnects, *s.Reconnects) {
		note("reconnects are %v", got.reconnects)
	}
	if s.Waits != nil && !slices.EqualFunc(got.pauses, *s.Waits, func(pause float64, limits [2]float64) bool { return pause >= limits[0] && pause <= limits[1] }) {
		note("pauses are %v", got.pauses)
	}
	if s.Requests != nil {
		if len(requests) != len(*s.Requests) {
			note("requests are %d", len(requests))
		}
		for i := range min(len(requests), len(*s.Requests)) {
			for _, fault := range (*s.Requests)[i].compare(requests[i]) {
				note("request %d: %s", i, fault)
			}
		}
	}
	keys := map[string]bool{}
	for _, request := range requests {
		keys[request.Header.Get(idempotencyHeader)] = true
	}
	if s.IdempotencyKeys == "same" && (len(keys) != 1 || keys[""]) || s.IdempotencyKeys == "none" && (len(keys) != 1 || !keys[""]) {
		note("idempotency keys are %v", keys)
	}
	return faults
}

func compareOutcome(value any, err error, expected json.RawMessage, expectedError map[string]any) []string {
	if expectedError == nil {
		if err != nil {
			return []string{err.Error()}
		}
		if expected != nil && !isLike(asJSON(value), asJSON(expected)) {
			return []string{"the value is " + textOf(value)}
		}
		return nil
	}
	if err == nil {
		return []string{"there is no error"}
	}
	shown := asJSON(describe(err)).(map[string]any)
	fields := map[string]any{}
	for name, each := range expectedError {
		fields[name] = each
	}
	part, _ := fields["messageIncludes"].(string)
	delete(fields, "messageIncludes")
	if !isLike(shown, fields) || !strings.Contains(strings.ToLower(shown["message"].(string)), strings.ToLower(part)) {
		return []string{"the error is " + textOf(shown)}
	}
	return nil
}

// describe has an error as a scenario has it.
func describe(err error) map[string]any {
	described := map[string]any{"class": "", "message": strings.TrimPrefix(err.Error(), "berth: ")}
	var answered *Error
	var network *NetworkError
	var timeout *TimeoutError
	var unexpected *UnexpectedResponseError
	var failed *ActionError
	var late *ActionTimeoutError
	var argument *ArgumentError
	var webhook *WebhookError
	switch {
	case errors.As(err, &answered):
		return describeAnswered(answered)
	case errors.As(err, &network):
		described["class"] = "network"
	case errors.As(err, &timeout):
		described["class"] = "timeout"
	case errors.As(err, &unexpected):
		described["class"] = "not_berth"
	case errors.As(err, &failed):
		described["class"], described["action"] = "action_failed", failed.Action
	case errors.As(err, &late):
		described["class"], described["actionId"], described["action"] = "action_timeout", late.ActionID, late.Action
	case errors.As(err, &argument):
		described["class"] = "argument"
	case errors.As(err, &webhook):
		described["class"] = "webhook"
	}
	return described
}

func describeAnswered(e *Error) map[string]any {
	described := map[string]any{
		"class": "api", "status": e.Status, "code": e.Code, "message": e.Message, "noCapacity": e.NoCapacity,
		"fields": append([]FieldError{}, e.Fields...), "requestId": nil, "retryAfterSeconds": nil,
	}
	if e.RequestID != "" {
		described["requestId"] = e.RequestID
	}
	if e.RetryAfter > 0 {
		described["retryAfterSeconds"] = e.RetryAfter.Seconds()
	}
	return described
}

func (e expectedRequest) compare(got receivedRequest) []string {
	var faults []string
	note := func(format string, values ...any) { faults = append(faults, fmt.Sprintf(format, values...)) }
	if got.Method != e.Method || got.Path != e.Path {
		note("%s %s", got.Method, got.Path)
	}
	if len(got.Query)+len(e.Query) > 0 && !reflect.DeepEqual(got.Query, e.Query) {
		note("query %v", got.Query)
	}
	for name, expected := range e.Headers {
		value, present := got.Header.Get(name), got.Header.Values(name) != nil
		switch expected := expected.(type) {
		case nil:
			if present {
				note("%s: %s", name, value)
			}
		case string:
			if value != expected {
				note("%s: %s", name, value)
			}
		case map[string]any:
			if !regexp.MustCompile(expected["matches"].(string)).MatchString(value) {
				note("%s: %s", name, value)
			}
		}
	}
	switch {
	case e.Body == nil:
	case string(e.Body) == "null":
		if len(got.Body) > 0 {
			note("body %s", got.Body)
		}
	case !reflect.DeepEqual(asJSON(json.RawMessage(got.Body)), asJSON(e.Body)):
		note("body %s", got.Body)
	}
	return faults
}

func asJSON(value any) (parsed any) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &parsed)
	}
	if err != nil {
		panic(err)
	}
	return parsed
}

func textOf(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// isLike compares what is there with what is expected: fields that are not expected may be there.
func isLike(got, expected any) bool {
	switch expected := expected.(type) {
	case map[string]any:
		fields, ok := got.(map[string]any)
		for name, each := range expected {
			value, present := fields[name]
			ok = ok && present && isLike(value, each)
		}
		return ok
	case []any:
		items, ok := got.([]any)
		return (ok || got == nil) && slices.EqualFunc(items, expected, isLike)
	case string:
		text, ok := got.(string)
		return ok && (text == expected || isSameTime(text, expected))
	}
	return reflect.DeepEqual(got, expected)
}

func isSameTime(one, other string) bool {
	first, err := time.Parse(time.RFC3339, one)
	second, otherErr := time.Parse(time.RFC3339, other)
	return err == nil && otherErr == nil && first.Equal(second)
}
