package berth

import (
	"context"
	"time"
)

const (
	maxPoll = 30 * time.Second
	// The server ends a long poll with the action, not with a step: OnProgress needs short polls.
	progressPoll   = 2 * time.Second
	responseMargin = 15 * time.Second
	// minPoll limits the rate of polls if the server responds early.
	minPoll = 500 * time.Millisecond
	// waitRetries take about five minutes, more than other calls, so that waiting survives a restart of the server.
	waitRetries = 15
)

// WaitOptions are options of waiting for an action.
type WaitOptions struct {
	// OnProgress is called every two seconds and at the end of the action.
	OnProgress func(*Action)
	// Timeout: default none. Every action has a deadline on the server.
	Timeout time.Duration
	// MaxRetries of a poll that got no response. Default: that of the client, or 15.
	MaxRetries *int
}

// WaitFor returns the completed action. The error is an [*ActionError] if the action failed or was cancelled, and an [*ActionTimeoutError] if it still runs
// after the timeout. A context that is done stops the waiting; the action continues.
func (s *ActionService) WaitFor(ctx context.Context, vmID, actionID string, options WaitOptions) (*Action, error) {
	timedOut := &ActionTimeoutError{ActionID: actionID, After: options.Timeout}
	if options.Timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, options.Timeout, timedOut)
		defer cancel()
		ctx = limited
	}
	started := time.Now()
	for {
		polled := time.Now()
		action, err := s.poll(ctx, vmID, actionID, started, options)
		if err != nil {
			return nil, err
		}
		if options.OnProgress != nil {
			options.OnProgress(action)
		}
		switch action.Status {
		case ActionStatusCompleted:
			return action, nil
		case ActionStatusFailed, ActionStatusCancelled:
			return nil, &ActionError{action}
		}
		timedOut.Action = action
		if time.Since(polled) < minPoll {
			if err := s.api.sleep(ctx, minPoll, nil); err != nil {
				return nil, err
			}
		}
	}
}

func (s *ActionService) poll(ctx context.Context, vmID, actionID string, started time.Time, options WaitOptions) (*Action, error) {
	wait := maxPoll
	if options.OnProgress != nil {
		wait = progressPoll
	}
	if options.Timeout > 0 {
		wait = max(0, min(wait, options.Timeout-time.Since(started)))
	}
	// Rounded down to a second, so that the response arrives before the timeout.
	seconds := int(wait / time.Second)
	retries := s.api.retriesOr(waitRetries)
	if options.MaxRetries != nil {
		retries = *options.MaxRetries
	}
	timeout := time.Duration(seconds)*time.Second + responseMargin
	return s.Get(ctx, vmID, actionID, GetActionQuery{Wait: &seconds}, CallTimeout(timeout), CallMaxRetries(retries))
}
