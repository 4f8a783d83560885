package berth

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	prefix            = "/api/public/v1"
	defaultTimeout    = 30 * time.Second
	defaultMaxRetries = 5
	firstBackoff      = time.Second
	maxBackoff        = 30 * time.Second
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
	a := &api{baseURL: base, token: token, userAgent: "berth-go/" + Version, timeout: defaultTimeout, sleep: sleep}
	for _, option := range options {
		option(a)
	}
	a.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return a, nil
}

func apiURL(baseURL string) (string, error) {
	parsed, err := url.Parse(baseURL)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return "", &ArgumentError{fmt.Sprintf("the base URL must be an http or https URL such as https://cloud.example.com, and is %q", baseURL)}
	}
	path := strings.TrimSuffix(strings.TrimRight(parsed.EscapedPath(), "/"), prefix)
	return parsed.Scheme + "://" + parsed.Host + path + prefix, nil
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

func (r request) target() (string, error) {
	path := r.rawPath
	if path == "" {
		path = r.path
		for _, id := range r.ids {
			// An empty id, "." or ".." would address another path.
			if strings.Trim(id, ".") == "" {
				return "", &ArgumentError{fmt.Sprintf("an id is needed for %s %s, and %q is none", r.method, r.path, id)}
			}
			start, end := strings.IndexByte(path, '{'), strings.IndexByte(path, '}')
			path = path[:start] + url.PathEscape(id) + path[end+1:]
		}
	}
	query, err := queryValues(r.query)
	if err != nil {
		return "", err
	}
	if r.dryRun {
		query.Set("dryRun", "true")
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, nil
}

// queryValues are the fields of a query, as JSON has them.
func queryValues(query any) (url.Values, error) {
	switch query := query.(type) {
	case nil:
		return url.Values{}, nil
	case url.Values:
		return query, nil
	}
	text, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	values := url.Values{}
	for name, value := range fields {
		values.Set(name, fmt.Sprint(value))
	}
	return values, nil
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

// exchange is one attempt, to the end of its answer: one that is cut short is repeated like one that is missing.
func (a *api) exchange(ctx context.Context, prepared *attempt, timeout time.Duration) ([]byte, error) {
	answer, err := a.open(ctx, prepared, timeout)
	if err != nil {
		return nil, err
	}
	defer answer.close()
	return answer.read()
}

// answer is an answer of which the body was not read yet.
type answer struct {
	*http.Response
	prepared *attempt
	// limited ends with the caller's context, and when the attempt takes too long, until timer is stopped.
	ctx, limited context.Context
	timer        *time.Timer
	cancel       context.CancelCauseFunc
}

// open sends the request. A status that is no success is an error.
func (a *api) open(ctx context.Context, prepared *attempt, timeout time.Duration) (*answer, error) {
	limited, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(timeout, func() { cancel(&TimeoutError{prepared.method, prepared.url, timeout}) })
	got := &answer{prepared: prepared, ctx: ctx, limited: limited, timer: timer, cancel: cancel}
	sent, err := http.NewRequestWithContext(limited, prepared.method, prepared.url, bodyReader(prepared.body))
	if err != nil {
		got.close()
		return nil, &ArgumentError{err.Error()}
	}
	sent.Header = prepared.header.Clone()
	if got.Response, err = a.http.Do(sent); err != nil {
		defer got.close()
		return nil, got.explain(err)
	}
	if got.StatusCode >= 200 && got.StatusCode <= 299 {
		return got, nil
	}
	defer got.close()
	text, err := got.read()
	if err != nil {
		return nil, err
	}
	return nil, errorOf(prepared, got.Response, text)
}

func (a *answer) close() {
	a.timer.Stop()
	a.cancel(nil)
	if a.Response != nil {
		_ = a.Body.Close() // what is left of it is of no interest
	}
}

func (a *answer) read() ([]byte, error) {
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return nil, a.explain(err)
	}
	return text, nil
}

// explain says why an attempt failed: the caller gave up, it took too long, or the network.
func (a *answer) explain(err error) error {
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	var timeout *TimeoutError
	if errors.As(context.Cause(a.limited), &timeout) {
		return timeout
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // it repeats method and URL
	}
	return &NetworkError{a.prepared.method, a.prepared.url, err}
}

func bodyReader(body []byte) io.Reader {
	if body == nil {
		return nil
	}
	return bytes.NewReader(body)
}

func (a *api) retry(ctx context.Context, prepared *attempt, maxRetries int, work func() error) error {
	for i := 0; ; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := work()
		if err == nil || i >= maxRetries || !prepared.isRetryable(err) {
			return err
		}
		if err := a.sleep(ctx, pauseAfter(err, i), err); err != nil {
			return err
		}
	}
}

func (p *attempt) isRetryable(err error) bool {
	var answered *Error
	if errors.As(err, &answered) {
		// An earlier attempt, whose connection broke, may still be under way. no_capacity does not clear within the backoff.
		return answered.Status == http.StatusTooManyRequests || answered.Code == CodeIdempotencyInProgress ||
			slices.Contains([]int{502, 503, 504}, answered.Status) && answered.Code != CodeNoCapacity && p.isSafeToRepeat()
	}
	return p.isSafeToRepeat() && isBroken(err)
}

func isBroken(err error) bool {
	var network *NetworkError
	var timeout *TimeoutError
	return errors.As(err, &network) || errors.As(err, &timeout)
}

func (p *attempt) isSafeToRepeat() bool {
	return slices.Contains([]string{"GET", "PUT", "DELETE"}, p.method) || p.header.Get(idempotencyHeader) != ""
}

// pauseAfter is Retry-After plus full jitter over an exponential backoff, so that clients that failed together do not return together.
func pauseAfter(err error, attempt int) time.Duration {
	var least time.Duration
	var answered *Error
	if errors.As(err, &answered) {
		least = answered.RetryAfter
		if answered.Status == http.StatusTooManyRequests {
			least = max(least, time.Second)
		}
	}
	return least + backoff(attempt, firstBackoff)
}

func backoff(attempt int, first time.Duration) time.Duration {
	return time.Duration(mathrand.Float64() * math.Min(float64(first)*math.Pow(2, float64(attempt)), float64(maxBackoff)))
}

// problem is the body of an error: problem+json, or only a sentence.
type problem struct {
	Detail       string        `json:"detail"`
	Code         ErrorCode     `json:"code"`
	RequestID    string        `json:"requestId"`
	Errors       []FieldError  `json:"errors"`
	Missing      []string      `json:"missing"`
	Alternatives *Alternatives `json:"alternatives"`
	Sentence     string        `json:"error"`
}

func errorOf(prepared *attempt, response *http.Response, text []byte) *Error {
	var body problem
	if json.Unmarshal(text, &body) != nil {
		body = problem{} // the page of a proxy
	}
	e := &Error{
		Status:     response.StatusCode,
		Code:       firstOf(body.Code, ErrorCode(response.Header.Get("X-Error-Code")), CodeUnknown),
		Message:    firstOf(body.Detail, body.Sentence, unexpected(prepared, response)),
		RequestID:  firstOf(body.RequestID, response.Header.Get("X-Request-Id")),
		Fields:     body.Errors,
		RetryAfter: retryAfter(response.Header.Get("Retry-After")),
	}
	if body.Missing != nil && body.Alternatives != nil {
		e.NoCapacity = &NoCapacity{body.Missing, *body.Alternatives}
	}
	return e
}

func firstOf[T ~string](values ...T) T {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

func unexpected(prepared *attempt, response *http.Response) string {
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		location := firstOf(response.Header.Get("Location"), "no location")
		return fmt.Sprintf("%s %s is redirected (%s). Set the base URL to the final one", prepared.method, prepared.url, location)
	}
	return fmt.Sprintf("%s %s returned %s, not from Berth. Check the base URL and the proxies in front of the server", prepared.method, prepared.url, response.Status)
}

// retryAfter reads either seconds or a date.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
