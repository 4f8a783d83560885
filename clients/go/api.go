package berth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"time"
)

const (
	prefix            = "/api/public/v1"
	defaultTimeout    = 30 * time.Second
	defaultMaxRetries = 5
	defaultIdle       = 45 * time.Second
	accept            = "application/json, application/problem+json"
	idempotencyHeader = "Idempotency-Key"
)

// api sends requests: one attempt after another until one succeeds, or fails in a way that no other would change.
type api struct {
	baseURL    string
	token      string
	userAgent  string
	http       http.Client
	timeout    time.Duration
	maxRetries *int
	sleep      func(ctx context.Context, pause time.Duration, reason error) error
	// idle is how long a stream may be silent. The server sends a keep-alive every 15 seconds.
	idle time.Duration
}

// request is a call of an operation.
type request struct {
	method string
	// path has placeholders such as {id}, for which ids has the values in their order.
	path string
	ids  []string
	// rawPath is used instead of path, as it is.
	rawPath string
	query   any
	dryRun  bool
	body    any
	header  http.Header
}

func newAPI(baseURL, token string, options []ClientOption) (*api, error) {
	base, err := apiURL(baseURL)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(token) == "" {
		return nil, &ArgumentError{"the token is missing. Pass an API token, vmk_…"}
	}
	a := &api{baseURL: base, token: token, userAgent: "berth-go/" + Version, timeout: defaultTimeout, sleep: sleep, idle: defaultIdle}
	for _, option := range options {
		option(a)
	}
	a.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return a, nil
}

func sleep(ctx context.Context, pause time.Duration, _ error) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *api) retriesOr(otherwise int) int {
	if a.maxRetries != nil {
		return *a.maxRetries
	}
	return otherwise
}

func (a *api) options(options []CallOption) callOptions {
	all := callOptions{timeout: a.timeout, maxRetries: a.retriesOr(defaultMaxRetries)}
	for _, option := range options {
		option(&all)
	}
	return all
}

// attempt is a request as it is sent, the same each time.
type attempt struct {
	method, url string
	header      http.Header
	body        []byte
}

func (a *api) prepare(r request, options callOptions) (*attempt, error) {
	address, err := r.target()
	if err != nil {
		return nil, err
	}
	header := r.header.Clone()
	if header == nil {
		header = http.Header{"Accept": {accept}}
	}
	header.Set("X-Api-Key", a.token)
	header.Set("User-Agent", a.userAgent)
	prepared := &attempt{method: r.method, url: a.baseURL + address, header: header}
	if body := reflect.ValueOf(r.body); body.IsValid() && (body.Kind() != reflect.Pointer || !body.IsNil()) {
		if prepared.body, err = json.Marshal(r.body); err != nil {
			return nil, err
		}
		header.Set("Content-Type", "application/json")
	}
	if r.method == http.MethodGet {
		return prepared, nil
	}
	key := options.idempotencyKey
	if key == nil {
		key = Ptr(randomKey())
	}
	if *key != "" {
		header.Set(idempotencyHeader, *key)
	}
	return prepared, nil
}

func randomKey() string {
	var key [16]byte
	_, _ = rand.Read(key[:]) // never fails
	return hex.EncodeToString(key[:])
}

// envelope is an answer of the server.
type envelope struct {
	Success    bool            `json:"success"`
	Data       json.RawMessage `json:"data"`
	Pagination Pagination      `json:"pagination"`
	// NextCursor is absent where the server knows no cursors.
	NextCursor json.RawMessage `json:"nextCursor"`
}

// call returns the data of the answer.
func call[T any](ctx context.Context, a *api, r request, options []CallOption) (T, error) {
	var data T
	_, err := a.do(ctx, r, &data, options)
	if err != nil {
		var none T
		return none, err
	}
	return data, nil
}

func (a *api) do(ctx context.Context, r request, data any, options []CallOption) (*envelope, error) {
	all := a.options(options)
	prepared, err := a.prepare(r, all)
	if err != nil {
		return nil, err
	}
	var text []byte
	err = a.retry(ctx, prepared, all.maxRetries, func() error {
		text, err = a.exchange(ctx, prepared, all.timeout)
		return err
	})
	if err != nil {
		return nil, err
	}
	var received envelope
	if json.Unmarshal(text, &received) != nil || !received.Success || json.Unmarshal(received.Data, data) != nil {
		return nil, &UnexpectedResponseError{prepared.method, prepared.url}
	}
	return &received, nil
}
