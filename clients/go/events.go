package berth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	acceptStream = "text/event-stream, application/problem+json"
	defaultRetry = 2 * time.Second
	eventPage    = 100
)

// EventWebhookTest is the type of what [WebhookService.Test] sends; it is in no log.
const EventWebhookTest EventType = "webhook.test"

// Event is something that happened in the account. A webhook delivers the same, without a cursor.
type Event struct {
	ID string `json:"id"`
	// Cursor is the event's number in the account, from 1 without a gap.
	Cursor    string    `json:"cursor,omitempty"`
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	// Data is read by Payload.
	Data json.RawMessage `json:"data"`
}

// All iterates over the log of events after the cursor of the query, oldest first, up to now.
func (s *EventService) All(ctx context.Context, query ListEventsQuery, options ...CallOption) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		if query.Limit == 0 {
			query.Limit = eventPage
		}
		for {
			events, err := s.List(ctx, query, options...)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range events {
				if !yield(&events[i], nil) {
					return
				}
			}
			if len(events) < query.Limit {
				return
			}
			query.After = events[len(events)-1].Cursor
		}
	}
}

// StreamOptions are options of a stream.
type StreamOptions struct {
	// After is the cursor of the last event already processed, "0" for all. Default: only new events.
	After string
	// LabelSelector: only events of resources with such labels.
	LabelSelector string
	// OnOpen is called each time the server has started to respond: no event after this point is missed.
	OnOpen func()
	// OnReconnect is called before each reconnect with the reason and the cursor it resumes from.
	OnReconnect func(reason error, after string)
	// MaxRetries of the first connect. Reconnects after that are retried without limit. Default: that of the client.
	MaxRetries *int
}

// Stream iterates over new events as they occur. After a disconnect it is reopened with the id of the last event received. It ends with the
// context, with an error that no retry fixes, or when the loop is left.
func (s *EventService) Stream(ctx context.Context, options StreamOptions) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		stream := &stream{api: s.api, options: options, after: options.After, retry: defaultRetry, maxRetries: s.api.retriesOr(defaultMaxRetries)}
		if options.MaxRetries != nil {
			stream.maxRetries = *options.MaxRetries
		}
		if err := stream.run(ctx, yield); err != nil {
			yield(nil, err)
		}
	}
}

type stream struct {
	api        *api
	options    StreamOptions
	after      string
	retry      time.Duration
	maxRetries int
	// attempt counts the connections since the last event.
	attempt int
}

// errLeft says that the loop over the stream was left.
var errLeft = errors.New("left")

func (s *stream) run(ctx context.Context, yield func(*Event, error) bool) error {
	for {
		answer, err := s.connect(ctx)
		if err != nil {
			return err
		}
		s.maxRetries = math.MaxInt
		if s.options.OnOpen != nil {
			s.options.OnOpen()
		}
		reason := s.read(answer, yield)
		answer.close()
		if errors.Is(reason, errLeft) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !isBroken(reason) {
			return reason
		}
		if s.options.OnReconnect != nil {
			s.options.OnReconnect(reason, s.after)
		}
		if err := s.api.sleep(ctx, backoff(s.attempt, s.retry), reason); err != nil {
			return err
		}
		s.attempt++
	}
}

func (s *stream) connect(ctx context.Context) (*answer, error) {
	r := request{method: http.MethodGet, path: "/events", header: http.Header{"Accept": {acceptStream}}}
	if s.options.LabelSelector != "" {
		r.query = url.Values{"labelSelector": {s.options.LabelSelector}}
	}
	if s.after != "" {
		r.header.Set("Last-Event-ID", s.after)
	}
	prepared, err := s.api.prepare(r, s.api.options(nil))
	if err != nil {
		return nil, err
	}
	var answer *answer
	err = s.api.retry(ctx, prepared, s.maxRetries, func() error {
		answer, err = s.api.open(ctx, prepared, s.api.timeout)
		return err
	})
	return answer, err
}

// read yields the events of one connection. A connection that is silent for too long is broken.
func (s *stream) read(answer *answer, yield func(*Event, error) bool) error {
	answer.timer.Stop()
	idle := time.AfterFunc(s.api.idle, func() { answer.cancel(nil) })
	defer idle.Stop()
	parser := frames{}
	chunk := make([]byte, 32<<10)
	for {
		length, err := answer.Body.Read(chunk)
		idle.Reset(s.api.idle)
		for _, frame := range parser.add(chunk[:length]) {
			if err := s.handle(frame, yield); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return &NetworkError{answer.prepared.method, answer.prepared.url, errors.New("the event stream has ended")}
		}
		if err != nil {
			return answer.explain(err)
		}
	}
}

func (s *stream) handle(each frame, yield func(*Event, error) bool) error {
	if milliseconds, err := strconv.ParseInt(each.retry, 10, 32); err == nil && milliseconds >= 0 {
		s.retry = time.Duration(milliseconds) * time.Millisecond
	}
	if each.id != "" {
		s.after = each.id
	}
	if !each.hasData {
		return nil
	}
	var event Event
	if err := json.Unmarshal([]byte(each.data), &event); err != nil {
		return err
	}
	s.attempt = 0
	if !yield(&event, nil) {
		return errLeft
	}
	return nil
}
