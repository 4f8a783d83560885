// Package berth is the client of Berth's public API.
//
//	client, err := berth.NewClient("https://cloud.example.com", os.Getenv("BERTH_TOKEN"))
//	created, err := client.VM.Create(ctx, berth.CreateVM{RegionID: region.ID, OSTemplateID: &template.ID, Hostname: "web-1"})
//	action, err := client.Action.WaitFor(ctx, created.VM.ID, created.ActionID, berth.WaitOptions{})
//
// What is safe to repeat is repeated, with pauses that honour Retry-After. Every write carries an idempotency key, the same in all its attempts,
// so it takes effect once. An error of the server is an [*Error] with its code.
//
// In requests, an optional field is a pointer, a slice or a map, and left out when it is nil; [Ptr] makes pointers. A field of type [Nullable] is sent as
// null by [Null]. A list that is required, such as the rules of [ReplaceRules], must not be nil, which is sent as null.
package berth

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

//go:generate go run ./internal/generate ../../openapi/v1.json .

// Version is the version of this package.
const Version = "0.1.0"

// ClientOption is an option of a client.
type ClientOption func(*api)

// WithHTTPClient replaces http.DefaultClient. Redirects are not followed, whatever it says: they would send the token to another host.
func WithHTTPClient(client *http.Client) ClientOption {
	return func(a *api) {
		a.http = *client
	}
}

// WithTimeout limits one attempt including its answer. Default: 30 seconds.
func WithTimeout(timeout time.Duration) ClientOption {
	return func(a *api) { a.timeout = timeout }
}

// WithMaxRetries is how often a request that is safe to repeat is sent again. Default: 5.
func WithMaxRetries(count int) ClientOption {
	return func(a *api) { a.maxRetries = &count }
}

// WithApplication puts the name and the version of a program before those of this package in User-Agent.
func WithApplication(name, version string) ClientOption {
	return func(a *api) { a.userAgent = strings.Trim(name+"/"+version, "/") + " " + a.userAgent }
}

// WithSleep replaces the pause between two attempts, to report retries or to control time in tests. reason is what made the attempt before it
// fail, and nil where nothing failed. It must return when the context is done.
func WithSleep(sleep func(ctx context.Context, pause time.Duration, reason error) error) ClientOption {
	return func(a *api) { a.sleep = sleep }
}

// CallOption is an option of one call.
type CallOption func(*callOptions)

type callOptions struct {
	timeout        time.Duration
	maxRetries     int
	idempotencyKey *string
}

// IdempotencyKey gives the write a key: all requests with the same key take effect once. 1-255 visible ASCII characters. Without this option each
// write has a random key.
func IdempotencyKey(key string) CallOption {
	return func(o *callOptions) { o.idempotencyKey = &key }
}

// NoIdempotencyKey sends none. A POST or PATCH without a key is not repeated after a network error or a timeout: it may have taken effect.
func NoIdempotencyKey() CallOption { return IdempotencyKey("") }

// CallTimeout is [WithTimeout] for one call.
func CallTimeout(timeout time.Duration) CallOption {
	return func(o *callOptions) { o.timeout = timeout }
}

// CallMaxRetries is [WithMaxRetries] for one call.
func CallMaxRetries(count int) CallOption {
	return func(o *callOptions) { o.maxRetries = count }
}

// NewClient returns a client of the server at baseURL, for example https://cloud.example.com, with or without /api/public/v1. The token comes from the
// dashboard (Settings, API Keys).
func NewClient(baseURL, token string, options ...ClientOption) (*Client, error) {
	a, err := newAPI(baseURL, token, options)
	if err != nil {
		return nil, err
	}
	return newClient(a), nil
}

// Request calls any endpoint with the same retries, idempotency keys and errors, for endpoints that this version has no method for. path is
// relative to /api/public/v1 and may have a query; result, which may be nil, gets the data of the answer.
func (c *Client) Request(ctx context.Context, method, path string, body, result any, options ...CallOption) error {
	data, err := call[json.RawMessage](ctx, c.api, request{method: strings.ToUpper(method), rawPath: path, body: body}, options)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(data, result)
}

// Ptr returns a pointer to a value, for optional fields of requests.
func Ptr[T any](value T) *T { return &value }

// Nullable is an optional field of a request that may also be null. Its zero value is not sent.
type Nullable[T any] struct {
	given bool
	value *T
}

// Value is a Nullable that is given.
func Value[T any](value T) Nullable[T] { return Nullable[T]{given: true, value: &value} }

// Null is a Nullable that is sent as null.
func Null[T any]() Nullable[T] { return Nullable[T]{given: true} }

// IsZero says whether the field is left out.
func (n Nullable[T]) IsZero() bool { return !n.given }

// Get returns the value: nil where it is null or not given.
func (n Nullable[T]) Get() *T { return n.value }

// MarshalJSON implements [json.Marshaler].
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	n.given = true
	return json.Unmarshal(text, &n.value)
}
