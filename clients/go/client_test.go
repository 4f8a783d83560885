package berth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func newTestClient(t *testing.T, script []scriptedAnswer, options ...ClientOption) (*Client, *scriptedServer) {
	server := startScriptedServer(t, script)
	client, err := NewClient(server.URL, "vmk_secret", options...)
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

func answered(data string) scriptedAnswer {
	return scriptedAnswer{Status: http.StatusOK, Body: json.RawMessage(`{"success":true,"data":` + data + `}`)}
}

func streamed(text, end string) scriptedAnswer {
	return scriptedAnswer{Status: http.StatusOK, Stream: &text, End: end}
}

var errEnough = errors.New("enough")

func TestContextEndsAnAttempt(t *testing.T) {
	client, server := newTestClient(t, []scriptedAnswer{{Broken: "hang"}, answered("[]")})
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(100*time.Millisecond, func() { cancel(errEnough) })
	_, err := client.Region.List(ctx)
	if !errors.Is(err, errEnough) || len(server.received()) != 1 {
		t.Errorf("%v after %d requests", err, len(server.received()))
	}
}

func TestContextEndsAPause(t *testing.T) {
	client, _ := newTestClient(t, []scriptedAnswer{{Status: 429, Headers: map[string]any{"Retry-After": "1000"}}})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := client.Region.List(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestContextThatIsDoneSendsNothing(t *testing.T) {
	client, server := newTestClient(t, []scriptedAnswer{answered("[]")})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := client.Region.List(ctx); !errors.Is(err, context.Canceled) || len(server.received()) != 0 {
		t.Errorf("%v after %d requests", err, len(server.received()))
	}
}

func TestContextEndsAStream(t *testing.T) {
	client, _ := newTestClient(t, []scriptedAnswer{streamed(": \n\n", "open")})
	ctx, cancel := context.WithCancelCause(context.Background())
	options := StreamOptions{OnOpen: func() { cancel(errEnough) }}
	_, err := Collect(client.Event.Stream(ctx, options))
	if !errors.Is(err, errEnough) {
		t.Error(err)
	}
}

func TestSilentStreamIsReopened(t *testing.T) {
	noPause := WithSleep(func(context.Context, time.Duration, error) error { return nil })
	client, server := newTestClient(t, []scriptedAnswer{streamed("id: 7\n\n", "open"), streamed("data: {\"cursor\":\"8\"}\n\n", "open")}, noPause)
	client.api.idle = 100 * time.Millisecond
	for event, err := range client.Event.Stream(context.Background(), StreamOptions{}) {
		if err != nil || event.Cursor != "8" {
			t.Errorf("%v %v", event, err)
		}
		break
	}
	if requests := server.received(); len(requests) != 2 || requests[1].Header.Get("Last-Event-ID") != "7" {
		t.Errorf("%v", requests)
	}
}

func TestPausesHaveFullJitter(t *testing.T) {
	for attempt, span := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		least, most := time.Hour, time.Duration(0)
		for range 1000 {
			pause := pauseAfter(&NetworkError{}, attempt)
			least, most = min(least, pause), max(most, pause)
		}
		if span *= time.Second; most > span || most < span*9/10 || least > span/10 {
			t.Errorf("attempt %d: %v to %v", attempt, least, most)
		}
	}
}

func TestRequest(t *testing.T) {
	client, server := newTestClient(t, []scriptedAnswer{answered(`{"id":"c1"}`)}, WithApplication("deployer", "1.2"))
	var made struct{ ID string }
	err := client.Request(context.Background(), "post", "/later?dryRun=true", map[string]int{"size": 1}, &made)
	request := server.received()[0]
	if err != nil || made.ID != "c1" || request.Method != "POST" || request.Path != prefix+"/later" || request.Query["dryRun"] != "true" || string(request.Body) != `{"size":1}` {
		t.Errorf("%v %+v %+v", err, made, request)
	}
	if agent := request.Header.Get("User-Agent"); agent != "deployer/1.2 berth-go/"+Version {
		t.Error(agent)
	}
}

func TestClientIsSafeForConcurrentUse(t *testing.T) {
	client, server := newTestClient(t, []scriptedAnswer{})
	server.script = make([]scriptedAnswer, 50)
	for i := range server.script {
		server.script[i] = answered(`{"id":"ckey00000001"}`)
	}
	var group sync.WaitGroup
	for range len(server.script) {
		group.Add(1)
		go func() {
			defer group.Done()
			if _, err := client.SSHKey.Delete(context.Background(), "ckey00000001"); err != nil {
				t.Error(err)
			}
		}()
	}
	group.Wait()
	keys := map[string]bool{}
	for _, request := range server.received() {
		keys[request.Header.Get(idempotencyHeader)] = true
	}
	if len(keys) != 50 {
		t.Errorf("%d keys", len(keys))
	}
}

func TestTokenIsNotRevealed(t *testing.T) {
	client, _ := newTestClient(t, []scriptedAnswer{{Status: 401, Body: json.RawMessage(`{}`)}})
	_, err := client.Region.List(context.Background())
	if text := fmt.Sprintf("%v %+v %#v %+v", err, err, err, client); strings.Contains(text, "vmk_secret") {
		t.Error(text)
	}
}

func TestEveryTypeOfEventHasAPayload(t *testing.T) {
	document := readJSON[struct{ Webhooks map[string]any }](t, "../../openapi/v1.json")
	for name := range document.Webhooks {
		event := Event{Type: EventType(name), Data: json.RawMessage("{}")}
		if payload, err := event.Payload(); payload == nil || err != nil {
			t.Errorf("%s: %v %v", name, payload, err)
		}
	}
	later := Event{Type: "vm.exploded", Data: json.RawMessage("{}")}
	if payload, err := later.Payload(); payload != nil || err != nil {
		t.Errorf("%v %v", payload, err)
	}
}

func TestVersionIsThatOfBerth(t *testing.T) {
	if all := readJSON[struct{ Version string }](t, "../../package.json"); all.Version != Version {
		t.Errorf("the version of Berth is %s", all.Version)
	}
}
