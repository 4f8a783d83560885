package berth

import (
	"context"
	"errors"
	"math"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"time"
)

const (
	firstBackoff = time.Second
	maxBackoff   = 30 * time.Second
)

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
