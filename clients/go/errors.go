package berth

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// CodeUnknown is the code of an error that did not come from the server but from something in between, such as a proxy.
const CodeUnknown ErrorCode = "unknown"

// Error is an error that the server returned: errors.As(err, &e) with e a *berth.Error, or [IsCode].
type Error struct {
	Status int
	Code   ErrorCode
	// Message is the server's text: what happened, why, and what to do next.
	Message string
	// RequestID identifies the request in the server's log: include it in support tickets.
	RequestID string
	// Fields are those of the request that were not accepted.
	Fields []FieldError
	// RetryAfter is how long the server asks to wait, and 0 where it does not.
	RetryAfter time.Duration
	// NoCapacity is given with CodeNoCapacity.
	NoCapacity *NoCapacity
}

// FieldError is a field of the request that failed validation.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// NoCapacity says what is missing, and what can be had instead.
type NoCapacity struct {
	// Missing has words such as ram, vcpu, dedicated_cpu, disk, address, trait, placement_group.
	Missing      []string     `json:"missing"`
	Alternatives Alternatives `json:"alternatives"`
}

// Alternatives are what can be had now.
type Alternatives struct {
	// Regions are slugs of regions with room for the same.
	Regions []string `json:"regions"`
	// Plans are slugs of plans with room in the same region.
	Plans []string `json:"plans"`
	// Later is whether the same can have room in the same region another time.
	Later bool `json:"later"`
}

func (e *Error) Error() string {
	if e.RequestID == "" {
		return fmt.Sprintf("berth: %s (%s)", e.Message, e.Code)
	}
	return fmt.Sprintf("berth: %s (%s, request %s)", e.Message, e.Code, e.RequestID)
}

// IsCode reports whether err is, or wraps, an [*Error] with one of these codes.
func IsCode(err error, codes ...ErrorCode) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

// NetworkError is a request without an answer, or with only a part of one. It may have taken effect; repeating it with the same idempotency key is safe.
type NetworkError struct {
	Method, URL string
	Err         error
}

func (e *NetworkError) Error() string {
	return fmt.Sprintf("berth: %s %s got no complete response: %v", e.Method, e.URL, e.Err)
}

func (e *NetworkError) Unwrap() error { return e.Err }

// TimeoutError is an attempt that took longer than the timeout of the client or the call.
type TimeoutError struct {
	Method, URL string
	After       time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("berth: %s %s took longer than %d ms", e.Method, e.URL, e.After.Milliseconds())
}

// Timeout makes it a net.Error to those who ask.
func (e *TimeoutError) Timeout() bool { return true }

// UnexpectedResponseError is a success that is not Berth's, such as a page of a proxy.
type UnexpectedResponseError struct{ Method, URL string }

func (e *UnexpectedResponseError) Error() string {
	return fmt.Sprintf("berth: %s %s returned a response that is not Berth's. Check the base URL", e.Method, e.URL)
}

// ArgumentError is an argument that cannot be right. Nothing was sent.
type ArgumentError struct{ Message string }

func (e *ArgumentError) Error() string { return "berth: " + e.Message }

// ActionError is an action that failed or was cancelled.
type ActionError struct{ Action *Action }

func (e *ActionError) Error() string { return "berth: " + e.message() }

func (e *ActionError) message() string {
	switch {
	case e.Action.Error != nil:
		return *e.Action.Error
	case e.Action.Status == ActionStatusCancelled:
		return e.Action.Action + " was cancelled"
	}
	return e.Action.Action + " has failed"
}

// ActionTimeoutError is an action that did not end in time. It continues on the server and can be waited for again.
type ActionTimeoutError struct {
	ActionID string
	// Action is the last state received, and nil if the server never answered.
	Action *Action
	After  time.Duration
}

func (e *ActionTimeoutError) Error() string {
	state := "The server did not respond within"
	if e.Action != nil {
		state = fmt.Sprintf("%s is still %s (%d %%) after", e.Action.Action, e.Action.Status, e.Action.Progress)
	}
	return fmt.Sprintf("berth: %s %v seconds. The action continues: wait for action %s again", state, e.After.Seconds(), e.ActionID)
}

// WebhookError is a webhook that is not to be trusted. Respond with 400 and ignore the payload.
type WebhookError struct{ Message string }

func (e *WebhookError) Error() string { return "berth: " + e.Message }
