package berth

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

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
